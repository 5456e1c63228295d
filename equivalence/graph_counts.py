"""Counting graphs and recompiles of a function in a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

from gbfix.equivalence.calls import Call, calls_of, copied
from gbfix.equivalence.compile_records import CompileRecords, given_up, recorded
from gbfix.equivalence.in_process import compiled, compiling, plain
from gbfix.evidence.model import Break, Evidence, Fragment, Recompile


def assert_graphs(
    function: Callable[..., Any],
    inputs: object,
    graphs: int = 1,
    recompiles: int = 0,
    *,
    breaks: int | None = None,
    fullgraph: bool | None = None,
    backend: str | Callable[..., Any] = "eager",
) -> None:
    """Fail unless compiling a function gives so many graphs, and calling it again so many recompilations.

    function: a function or an nn.Module, compiled by torch.compile or not; what is compiled keeps its own options but
    for the backend. A function that calls compiled functions, and is not compiled itself, is called as it is.
    inputs: a list of the arguments of calls, made in order on copies: each a tuple of positional arguments, a dict of
    arguments by name, or a single argument. Or the arguments of one call.
    graphs: of the first call, in PyTorch's default mode. breaks: source lines at which the first call cuts a graph,
    not counted when None. recompiles: of all further calls together. fullgraph: whether all calls must, or must not,
    go through with fullgraph=True; not tried when None. backend: of torch.compile.

    Raises AssertionError that says what was counted and where. A function that Dynamo gives up and runs in Python is
    one without a graph, which is an error unless graphs is 0. Exceptions of the function are passed on, and ValueError
    is raised when there is no call. Forgets everything that was compiled in this process (torch.compiler.reset).
    """
    calls = calls_of(inputs)
    if not calls:
        raise ValueError("assert_graphs needs at least one call: inputs is empty")
    first, last = _counted(function, calls, backend)
    problems = []
    if first.graphs != graphs:
        problems.append(f"the first call gives {_times(first.graphs, 'graph')}, not {graphs}")
    if first.given_up and graphs:
        problems.append("PyTorch runs a function in Python, without compiling it")
    if breaks is not None and len(first.breaks) != breaks:
        problems.append(f"the first call breaks the graph at {_times(len(first.breaks), 'line')}, not {breaks}")
    if last.recompiled != recompiles:
        problems.append(f"the calls after the first give {_times(last.recompiled, 'recompilation')}, not {recompiles}")
    refusal = None if fullgraph is None else _refusal(function, calls, backend)
    if fullgraph and refusal is not None:
        problems.append(f"fullgraph=True fails: {_first_line(refusal)}")
    if fullgraph is False and refusal is None:
        problems.append("fullgraph=True succeeds")
    if problems:
        raise AssertionError("\n".join([f"{_name(function)}: {'; '.join(problems)}", *_places(first, last)]))


@dataclass(frozen=True)
class _Seen:
    """What was compiled up to a call."""

    graphs: int
    breaks: tuple[Break, ...]
    given_up: tuple[Fragment, ...]
    recompiles: tuple[Recompile, ...]

    @property
    def recompiled(self) -> int:
        return sum(row.count for row in self.recompiles)


def _counted(
    function: Callable[..., Any], calls: Sequence[Call], backend: str | Callable[..., Any]
) -> tuple[_Seen, _Seen]:
    """After the first call, and after all. Recompilations during the first call are not among the recompilations."""
    torch.compiler.reset()
    subject = function if _compiles_by_itself(function, calls[0], backend) else compiled(function)
    torch.compiler.reset()
    with recorded(Path.cwd()) as records, compiling(backend):
        _call(subject, calls[0])
        first = _seen(records)
        for call in calls[1:]:
            _call(subject, call)
        return first, _seen(records, first)


def _compiles_by_itself(function: Callable[..., Any], call: Call, backend: str | Callable[..., Any]) -> bool:
    """True when a call of the function as it is compiles something."""
    with recorded(Path.cwd()) as records, compiling(backend):
        _call(function, call)
        return bool(records.evidence().fragments)


def _call(function: Callable[..., Any], call: Call) -> None:
    own = copied(call)
    function(*own.args, **own.kwargs)


def _seen(records: CompileRecords, before: _Seen | None = None) -> _Seen:
    evidence = records.evidence()
    rows = _without(evidence, before.recompiles) if before else evidence.recompiles
    return _Seen(
        graphs=sum(fragment.graph for fragment in evidence.fragments),
        breaks=evidence.breaks,
        given_up=given_up(evidence),
        recompiles=rows,
    )


def _without(evidence: Evidence, before: Sequence[Recompile]) -> tuple[Recompile, ...]:
    """The recompilations that came since."""
    known = {(row.place, row.guard): row.count for row in before}
    rows = [replace(row, count=row.count - known.get((row.place, row.guard), 0)) for row in evidence.recompiles]
    return tuple(row for row in rows if row.count > 0)


def _refusal(
    function: Callable[..., Any], calls: Sequence[Call], backend: str | Callable[..., Any]
) -> Exception | None:
    """The exception of the first call that cannot be compiled to one graph."""
    torch.compiler.reset()
    subject = torch.compile(plain(function), backend=backend, fullgraph=True)
    for call in calls:
        try:
            _call(subject, call)
        except Exception as error:
            return error
    return None


def _places(first: _Seen, last: _Seen) -> list[str]:
    lines = [f"  break at {site.place.file}:{site.place.line}: {site.gb} {site.kind}".rstrip() for site in first.breaks]
    lines += [
        f"  runs in Python: {each.place.function} at {each.place.file}:{each.place.line}: {_first_line(each.skipped)}"
        for each in first.given_up
    ]
    for row in last.recompiles:
        times = f" ({row.count} times)" if row.count > 1 else ""
        lines.append(f"  recompiles {row.place.function} at {row.place.file}:{row.place.line}{times}: {row.guard}")
    return lines


def _first_line(problem: object) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)


def _times(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _name(function: Callable[..., Any]) -> str:
    name = getattr(plain(function), "__qualname__", None)
    return name if isinstance(name, str) else type(plain(function)).__qualname__
