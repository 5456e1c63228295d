"""What evidence is missing and why, in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gbfix.evidence.model import Place
from gbfix.evidence.places import Places
from gbfix.evidence.records import Records
from gbfix.evidence.stack import plain_function

_SOURCES = {
    "torch_trace": (
        "read from TORCH_TRACE files, which have no columns, calls, hits or values: what each site costs is not known; "
        "gbfix trace -- CMD finds it out",
    ),
    "torch_logs": (
        "read from the text of a log, which shows only what TORCH_LOGS asked for, and no columns, calls, hits, values "
        "or graphs: what each site costs is not known; gbfix trace -- CMD finds it out",
        "a log leaves out the stack of a graph break that it reported before, and names only its innermost line",
    ),
}


def read_problems(processes: Sequence[Records], places: Places, mode: str) -> tuple[str, ...]:
    """The problems of a run or a saved trace, each said once, the gravest first."""
    return tuple(
        dict.fromkeys(
            (
                *_nothing(processes, mode),
                *_incomplete(processes),
                *_noted(processes),
                *_different_ranks(processes, places),
                *_SOURCES.get(mode, ()),
            )
        )
    )


def is_complete(records: Records) -> bool:
    """True for a process that shut down in order, or that compiled nothing."""
    return records.ended or not records.frames


def _nothing(processes: Sequence[Records], mode: str) -> Iterator[str]:
    if any(records.frames for records in processes):
        return
    if mode != "run":
        yield "nothing was compiled: the trace holds no record of a compilation"
    elif not processes:
        yield (
            "nothing was recorded: no Python process started with gbfix in it (python -I, -E and -S shut it out, and "
            "so does a program that clears PYTHONPATH)"
        )
    elif not any(records.torch for records in processes):
        yield "PyTorch was never imported, so that there was nothing to observe"
    elif any(records.problems for records in processes) and not any(records.entries for records in processes):
        return
    elif any(records.entries for records in processes):
        yield (
            "nothing was compiled: functions were given to torch.compile, but none of them was called, or "
            "torch.compile was switched off (TORCHDYNAMO_DISABLE, TORCH_COMPILE_DISABLE, a stance)"
        )
    else:
        yield "nothing was compiled: the program gave no function to torch.compile while it ran"


def _incomplete(processes: Sequence[Records]) -> Iterator[str]:
    for records in processes:
        if not is_complete(records):
            yield (
                f"{_name(records)} did not shut down in order (it was killed, or left by os._exit): what it showed up "
                "to then is here, the rest is missing"
            )


def _noted(processes: Sequence[Records]) -> Iterator[str]:
    several = len(processes) > 1
    for records in processes:
        for problem in records.problems:
            yield f"{_name(records)}: {problem}" if several and records.frames else problem


def _different_ranks(processes: Sequence[Records], places: Places) -> Iterator[str]:
    """Ranks that compiled different functions: a distributed program waits for its slowest rank."""
    compiled: dict[int, set[Place]] = {}
    for records in processes:
        if records.rank is not None and records.frames:
            compiled.setdefault(records.rank, set()).update(
                Place(places.file(frame.file, records.folder), 0, plain_function(frame.function))
                for frame in records.frames
            )
    if not compiled:
        return
    common = set.intersection(*compiled.values())
    for rank, functions in sorted(compiled.items()):
        if extra := sorted(functions - common):
            names = ", ".join(f"{place.function} ({place.file})" for place in extra[:3])
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            yield f"the ranks ran different programs: rank {rank} compiled {names}{more}, which others did not"


def _name(records: Records) -> str:
    pid = records.process.get("pid")
    rank = f" (rank {records.rank})" if records.rank is not None else ""
    return f"process {pid}{rank}"
