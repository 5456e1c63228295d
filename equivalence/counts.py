"""What compiling one version gives: graphs, break sites, recompiles, and whether one graph is enough.

Runs in a process of its own, before it loads the program. PyTorch's counters miss breaks and skipped frames, so that
the events are recorded and read by the same code as under `gbfix trace` (see `evidence`): a site there is one here.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import BreakSite, Counts
from gbfix.evidence import recorder
from gbfix.evidence.fragments import NOTHING_TO_COMPILE
from gbfix.evidence.journal import Journal, read_journal
from gbfix.evidence.messages import read_message
from gbfix.evidence.model import Evidence
from gbfix.evidence.places import Places
from gbfix.evidence.reader import read_evidence
from gbfix.evidence.records import Note
from gbfix.evidence.stack import innermost, read_stack

Call = Callable[[Example], object]
"""Builds the arguments of an example and calls the compiled target; raises what the program raises."""

MakeCall = Callable[[bool], Call]
"""Loads the program afresh for being compiled, with fullgraph=True when asked to, and gives a `Call`."""

_LONGEST_REASON = 200
_PROGRAM_RAISES = "Observed exception"
_NOTHING_COMPILED = "torch.compile with fullgraph=True found no compiled frames"


def count(make_call: MakeCall, examples: Sequence[Example], *, root: Path) -> Counts:
    """Compile and call in default mode, then once more with fullgraph=True.

    examples: a first call, one with other values, and one with other shapes; those that are missing count nothing.
    root: the folder to which file names of break sites are relative, as for `gbfix trace`. What loading the program
    compiles is not counted. fullgraph is true when all calls went through; it also lets Dynamo trace scalars and
    sizes that depend on data, which break a graph in default mode. Call it once per process. Raises what `make_call`
    raises, and OSError when there is no room for the notes.
    """
    with tempfile.TemporaryDirectory(prefix="gbfix-counts-") as folder:
        recording = _Recording(Path(folder), root)
        _reset()
        call = make_call(False)
        recording.mark()
        raised: list[BaseException | None] = []
        seen: list[Evidence] = []
        for example in examples:
            raised.append(_exception(call, example))
            seen.append(recording.evidence())
    counts = _counts(seen, raised)
    _reset()
    error = _fullgraph_error(make_call(True), examples, raised, root)
    return replace(counts, fullgraph=not error, fullgraph_error=error)


class _Recording:
    """The notes of this process, read while they are written."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._root = root
        self._journal = recorder.open_journal(str(folder))
        self._before = 0
        _record(self._journal)

    def mark(self) -> None:
        """Forget the compilations up to now."""
        self._before = sum(1 for _ in read_journal(self._journal.path))

    def evidence(self) -> Evidence:
        """Everything since the mark."""
        return read_evidence(self._notes(), root=self._root)

    def _notes(self) -> Iterator[Note]:
        for number, note in enumerate(read_journal(self._journal.path)):
            if number >= self._before or _is_header(note):
                yield note


def _is_header(note: Note) -> bool:
    """Later notes refer to it: who the process is, its entries, and the numbers that stand for file names."""
    return note["kind"] in ("process", "torch", "entry") or "str" in (note.get("metadata") or {})


def _record(journal: Journal) -> None:
    from torch import _logging

    original: Any = _logging.trace_structured  # type: ignore[attr-defined]
    asked = os.environ.get("GBFIX_VALUES")
    os.environ["GBFIX_VALUES"] = "0"  # what names held is of no interest here
    try:
        recorder.start(journal)
    finally:
        if asked is None:
            del os.environ["GBFIX_VALUES"]
        else:
            os.environ["GBFIX_VALUES"] = asked
    # The recorder expects to come before Dynamo, which may have been imported for speed before this process forked.
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("trace_structured") is original:
            vars(module)["trace_structured"] = _logging.trace_structured  # type: ignore[attr-defined]


def _reset() -> None:
    import torch

    torch.compiler.reset()


def _exception(call: Call, example: Example) -> BaseException | None:
    try:
        call(example)
    except Exception as error:
        return error
    return None


def _counts(seen: Sequence[Evidence], raised: Sequence[BaseException | None]) -> Counts:
    total = [sum(row.count for row in evidence.recompiles) for evidence in seen]
    recompiles = [after - before for before, after in itertools.pairwise(total)]
    first = seen[0] if seen else None
    return Counts(
        graphs=sum(fragment.graph for fragment in first.fragments) if first else 0,
        breaks=_break_sites(first) if first else (),
        skipped_frames=_skipped_frames(first) if first else 0,
        recompiles_values=sum(recompiles[:1]),
        recompiles_shapes=sum(recompiles[1:]),
        limit_hits=_limit_hits(seen[-1]) if seen else 0,
        raised=next((f"call {n}: {_one_line(error)}" for n, error in enumerate(raised, 1) if error), ""),
    )


def _limit_hits(evidence: Evidence) -> int:
    given_up = (row.place for row in evidence.recompiles if row.limit_hit)
    return len({(place.file, place.line, place.function) for place in given_up})


def _break_sites(evidence: Evidence) -> tuple[BreakSite, ...]:
    return tuple(BreakSite(each.place.file, each.place.line, each.gb, each.kind) for each in evidence.breaks)


def _skipped_frames(evidence: Evidence) -> int:
    given_up = (fragment.place for fragment in evidence.fragments if fragment.skipped not in ("", NOTHING_TO_COMPILE))
    return len({(place.file, place.line, place.function) for place in given_up})


def _fullgraph_error(
    call: Call, examples: Sequence[Example], raised: Sequence[BaseException | None], root: Path
) -> str:
    """Why not every call can be compiled to one graph; empty when it can, or when it is the program that raises."""
    for number, (example, before) in enumerate(zip(examples, raised, strict=True), 1):
        error = _exception(call, example)
        if error is not None and _is_refusal(error, before):
            return f"call {number}: {_reason(error, root)}" if number > 1 else _reason(error, root)
    return ""


def _is_refusal(error: BaseException, before: BaseException | None) -> bool:
    """Whether it is the compiler that raised. before: what the same call raised in default mode."""
    if before is None or str(error).startswith(_NOTHING_COMPILED):
        return True
    from torch._dynamo.exc import TorchDynamoException, TorchRuntimeError

    # A statement that raises while it is traced would raise when it runs.
    foreseen = isinstance(error, TorchRuntimeError) or read_message(str(error)).kind.startswith(_PROGRAM_RAISES)
    return isinstance(error, TorchDynamoException) and not foreseen


def _reason(error: BaseException, root: Path) -> str:
    text = str(error)
    if type(error).__name__ not in ("Unsupported", "UserError"):
        return _one_line(error)
    message = read_message(text)
    kind = _cut(message.kind)
    _, marker, stack = text.rpartition("from user code:")
    places = Places(root)
    frame = innermost(read_stack(stack), places.root) if marker else None
    where = "" if frame is None else f" at {places.file(frame.file)}:{frame.line}"
    return f"{message.gb} {kind}{where}".strip()


def _one_line(error: BaseException) -> str:
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return _cut(f"{type(error).__name__}: {first}" if first else type(error).__name__)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 3] + "..."
