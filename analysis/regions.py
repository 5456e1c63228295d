"""Which functions are compiled, and what Dynamo reaches from them."""

from __future__ import annotations

import ast
from collections import deque
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

from gbfix.analysis.applications import Compilation
from gbfix.analysis.callables import Arguments, LibraryValue, PartialValue, Value
from gbfix.analysis.library import Effect, library_function
from gbfix.analysis.reach import Entry, Reach, Reached
from gbfix.analysis.slots import TooManyStepsError
from gbfix.analysis.source import Function
from gbfix.engine.dataclass import dataclass
from gbfix.engine.garbage import without_garbage_collection

if TYPE_CHECKING:
    from gbfix.analysis.project import Project

_T = TypeVar("_T")
_LONGEST_SPELLING = 50  # of a compile call in a reason


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """A function that is compiled or reached from one that is.

    `reason` says it for people: "@torch.compile (line 3)", "called from f (line 9), compiled by
    @torch.compile (line 8)", "forward of an nn.Module (assumed compiled)"; places in other files are given as
    "train.py:20". `fullgraph`, `dynamic` and `backend` are those of the entry, None where the source does not say
    a constant; with several entries `fullgraph` is True when any entry has it, and the others are None
    unless all entries agree.
    """

    path: str
    function: Function
    reason: str
    fullgraph: bool | None = None
    dynamic: bool | None = None
    backend: str | None = None


@dataclass(frozen=True)
class Search:
    """What a search found, and whether it ended before all was looked at."""

    functions: tuple[CompiledFunction, ...] = ()
    is_cut_off: bool = False


@dataclass(frozen=True)
class _Options:
    fullgraph: bool | None = None
    dynamic: bool | None = None
    backend: str | None = None


@dataclass(frozen=True)
class _Way:
    """How a function is reached: the entry, and the call that leads to it from a function nearer to the entry."""

    entry: Entry
    caller: Reached | None = None
    line: int = 0


def search(project: Project) -> Search:
    """Every compiled function of the project, in order of path and position.

    A region starts where the source compiles something: every spelling of `torch.compile`, also
    through names, attributes, helpers and files. It goes on through all calls that can be resolved,
    and ends at `torch.compiler.disable` and the like. With `project.assume_compiled`, the `forward`
    of every torch.nn.Module starts one too.
    With observations of a run, which say for themselves what is compiled, the search ends empty where it takes too
    long, as it does for some library code. Without them, what is nearest to the places that compile is found first, and
    what was found is kept where the search is cut off.
    Sources: torch/_dynamo/eval_frame.py and decorators.py of torch 2.13.
    """
    files = project.files
    may = files.compiling if files.compiling is not None else any(_may_compile(files.text(path)) for path in files)
    if not project.assume_compiled and not may:
        return Search()
    with without_garbage_collection():
        try:
            reach = Reach(project)
        except TooManyStepsError:
            return Search()
        return Search(tuple(_compiled(project, reach)), reach.is_cut_off)


def _compiled(project: Project, reach: Reach) -> list[CompiledFunction]:
    ordered = sorted(reach.found.values(), key=lambda reached: _position(project, reached))
    ways, options = _ways(ordered), _options(ordered)
    found = []
    for reached in ordered:
        if reached.shows:
            merged = options[reached.function]
            reason = _reason(project, reached.path, ways[reached.function])
            found.append(
                CompiledFunction(
                    reached.path, reached.function, reason, merged.fullgraph, merged.dynamic, merged.backend
                )
            )
    return found


def _may_compile(text: str) -> bool:
    return "compile" in text or "_dynamo" in text


def _position(project: Project, reached: Reached) -> tuple[str, tuple[int, int]]:
    return reached.path, project.files[reached.path].span(reached.function.node).start


def _ways(ordered: list[Reached]) -> dict[Function, _Way]:
    """The shortest way to each function, from a place that compiles if there is one, else from an assumed module."""
    ways: dict[Function, _Way] = {}
    callees = _callees(ordered)
    for is_assumed in (False, True):
        pending: deque[Reached] = deque()
        for reached in ordered:
            entries = [entry for entry in reached.entries if (entry.assumed is not None) is is_assumed]
            if entries and reached.function not in ways:
                entry = min(entries, key=lambda entry: (entry.path != reached.path, entry.path, _line(entry)))
                ways[reached.function] = _Way(entry)
                pending.append(reached)
        while pending:
            caller = pending.popleft()
            for line, callee in callees.get(caller.function, ()):
                if callee.function not in ways:
                    ways[callee.function] = _Way(ways[caller.function].entry, caller, line)
                    pending.append(callee)
    return ways


def _callees(ordered: list[Reached]) -> dict[Function, list[tuple[int, Reached]]]:
    found: dict[Function, list[tuple[int, Reached]]] = {}
    for reached in ordered:
        for caller, line in reached.callers.items():
            found.setdefault(caller, []).append((line, reached))
    return found


def _options(ordered: list[Reached]) -> dict[Function, _Options]:
    """The options of the entries that reach each function; assumed modules have none."""
    reaching: dict[Function, set[_Options]] = {reached.function: set() for reached in ordered}
    callees = _callees(ordered)
    pending: deque[tuple[Function, _Options]] = deque()
    for reached in ordered:
        pending.extend((reached.function, _options_of(e.compilation)) for e in reached.entries if e.compilation)
    while pending:
        function, options = pending.popleft()
        if options not in reaching[function]:
            reaching[function].add(options)
            pending.extend((callee.function, options) for _, callee in callees.get(function, ()))
    return {function: _merged(options) for function, options in reaching.items()}


def _merged(options: set[_Options]) -> _Options:
    fullgraph = {o.fullgraph for o in options}
    dynamic = {o.dynamic for o in options}
    backend = {o.backend for o in options}
    return _Options(
        True if True in fullgraph else _only(fullgraph),
        _only(dynamic),
        _only(backend),
    )


def _only(values: set[_T]) -> _T | None:
    return next(iter(values)) if len(values) == 1 else None


def _options_of(compilation: Compilation) -> _Options:
    arguments = compilation.application.arguments
    is_optimize = compilation.is_optimize
    backend = _constant(arguments, "backend")
    if backend is None and is_optimize and arguments.positional_expressions:
        first = arguments.positional_expressions[0]
        backend = first.value if isinstance(first, ast.Constant) else None
    fullgraph = _constant(arguments, "nopython" if is_optimize else "fullgraph")
    dynamic = _constant(arguments, "dynamic")
    return _Options(
        fullgraph if isinstance(fullgraph, bool) else None,
        dynamic if isinstance(dynamic, bool) else None,
        backend if isinstance(backend, str) else None,
    )


def _constant(arguments: Arguments, keyword: str) -> object:
    expression = arguments.expressions.get(keyword)
    return expression.value if isinstance(expression, ast.Constant) else None


def _reason(project: Project, path: str, way: _Way) -> str:
    compiled = _compiled_by(project, path, way.entry)
    if way.caller is None:
        return compiled if way.entry.assumed is None else f"{compiled} (assumed compiled)"
    where = _where(path, way.caller.path, way.line)
    root = f"compiled by {compiled}" if way.entry.assumed is None else f"assumed compiled as {compiled}"
    return f"called from {way.caller.function.qualname} {where}, {root}"


def _compiled_by(project: Project, path: str, entry: Entry) -> str:
    if entry.compilation is None:
        return "forward of an nn.Module" if entry.is_module else "forward of a class with an unknown base"
    where = _where(path, entry.path, _line(entry))
    spelling = _spelling(project, entry.path, entry.compilation)
    return f"{spelling}, possibly torch.compile {where}" if _is_possible(entry.compilation) else f"{spelling} {where}"


def _where(path: str, other: str, line: int) -> str:
    return f"(line {line})" if path == other else f"({PurePath(other).name}:{line})"


def _line(entry: Entry) -> int:
    site = None if entry.compilation is None else entry.compilation.application.site
    return 0 if site is None else site.lineno


def _spelling(project: Project, path: str, compilation: Compilation) -> str:
    site = compilation.application.site
    if site is None:
        return "torch.compile"
    spelling = _on_one_line(project, path, site)
    if len(spelling) > _LONGEST_SPELLING and isinstance(site, ast.Call):
        first = _on_one_line(project, path, site.args[0]) + ", " if site.args else ""
        kept = first if len(first) < _LONGEST_SPELLING else ""
        spelling = f"{_on_one_line(project, path, site.func)}({kept}...)"
    return f"@{spelling}" if compilation.application.is_decorator else spelling


def _on_one_line(project: Project, path: str, node: ast.expr) -> str:
    return " ".join(project.files[path].segment(node).split())


def _is_possible(compilation: Compilation) -> bool:
    """True when what is called may be something else than a compiler."""
    values = list(compilation.application.callee.values)
    return any(not _compiles(value) for value in values) and not compilation.in_place


def _compiles(value: Value) -> bool:
    while isinstance(value, PartialValue):
        value = value.target
    known = library_function(value.name) if isinstance(value, LibraryValue) else None
    return known is not None and known.effect in (Effect.COMPILE, Effect.OPTIMIZE)
