"""What compiling one version gives: graphs, break sites, recompiles, and whether one graph is enough.

Runs in the process of a version, which loads the program afresh for it. See `compile_records` for what is counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gbfix.equivalence.compile_records import limit_hits, recorded, skipped_frames
from gbfix.equivalence.example import Example
from gbfix.equivalence.model import BreakSite, Counts
from gbfix.evidence.messages import read_message
from gbfix.evidence.model import Evidence
from gbfix.evidence.places import Places
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
    sizes that depend on data, which break a graph in default mode. Raises what `make_call` raises.
    """
    call = make_call(False)
    _reset()  # what loading it compiled would be there already
    raised: list[BaseException | None] = []
    seen: list[Evidence] = []
    with recorded(root) as records:
        for example in examples:
            raised.append(_exception(call, example))
            seen.append(records.evidence())
    counts = _counts(seen, raised)
    call = make_call(True)
    _reset()
    error = _fullgraph_error(call, examples, raised, root)
    return replace(counts, fullgraph=not error, fullgraph_error=error)


def _reset() -> None:
    import torch

    torch.compiler.reset()


def _exception(call: Call, example: Example) -> BaseException | None:
    try:
        call(example)
    except (Exception, SystemExit) as error:
        return error
    return None


def _counts(seen: Sequence[Evidence], raised: Sequence[BaseException | None]) -> Counts:
    total = [sum(row.count for row in evidence.recompiles) for evidence in seen]
    recompiles = [after - before for before, after in itertools.pairwise(total)]
    first = seen[0] if seen else None
    return Counts(
        graphs=sum(fragment.graph for fragment in first.fragments) if first else 0,
        breaks=_break_sites(first) if first else (),
        skipped_frames=skipped_frames(first) if first else 0,
        recompiles_values=sum(recompiles[:1]),
        recompiles_shapes=sum(recompiles[1:]),
        limit_hits=limit_hits(seen[-1]) if seen else 0,
        raised=next((f"call {n}: {_one_line(error)}" for n, error in enumerate(raised, 1) if error), ""),
    )


def _break_sites(evidence: Evidence) -> tuple[BreakSite, ...]:
    return tuple(BreakSite(each.place.file, each.place.line, each.gb, each.kind) for each in evidence.breaks)


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
