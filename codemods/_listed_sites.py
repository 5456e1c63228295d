"""Where Python reads the numbers of a tensor though the list that it was made from is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gbfix.analysis.flow import flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import Function
from gbfix.codemods._listed import Listed, listed_at, may_be_list
from gbfix.codemods._listed_calls import Callee, arguments_of, callee_of, runs
from gbfix.codemods._listed_reads import LISTED, MESSAGE
from gbfix.codemods._listed_region import ADVICE
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._row_uses import NUMBER, RowUses, follow, iterated, targets_of
from gbfix.codemods._unwritten import UNCHANGED
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Safety, Span


@dataclass(frozen=True)
class ListedSite:
    """A finding; callee and parameter: the function that gets the list in the place of the tensor, if one does."""

    finding: Finding
    callee: Function | None = None
    parameter: str = ""


@dataclass
class _Reading:
    """What is read of a tensor. rank: its dimensions; width: the length of its rows; reads: Python needs a value."""

    rank: int = 0
    widths: tuple[int, ...] = ()
    reads: bool = False
    rounding: tuple[Obligation, ...] = ()


@lru_cache(maxsize=2)
def listed_sites(view: FileView) -> tuple[ListedSite, ...]:
    """The loops and calls of a file that are given such a tensor, in no order."""
    return tuple(_sites(view))


def gets_list(view: FileView, function: Function, tensor: ast.Name) -> bool:
    """True where a loop goes through what is a list, or becomes one: `tolist()` fails for it."""
    sites = listed_sites(view)
    fixed = [site for site in sites if site.finding.safety is not Safety.REFUSED]
    if any(site.finding.span == view.source.span(tensor) for site in fixed):
        return True
    if any(site.callee is function and site.parameter == tensor.id for site in fixed):
        return True
    return may_be_list(view, function, tensor)


def _sites(view: FileView) -> Iterator[ListedSite]:
    if "tensor(" not in view.source.text:
        return
    for compiled in view.compiled:
        if compiled.fullgraph is True or isinstance(compiled.function.node, ast.Lambda):
            continue
        for node in ast.walk(compiled.function.node):
            if view.source.enclosing_function(node) is not compiled.function:
                continue
            if isinstance(node, ast.For):
                yield from _of_loop(view, compiled, node)
            elif isinstance(node, ast.Call) and view.names.scope_of(node) is compiled.function.node:
                yield from _of_call(view, compiled, node)


def _of_loop(view: FileView, compiled: CompiledFunction, loop: ast.For) -> Iterator[ListedSite]:
    flow = flow_of(view, compiled.function)
    tensor, target = iterated(flow, loop)
    if tensor is None or target is None or loop not in flow.before:
        return
    reading = _Reading()
    try:
        _read_loop(view, compiled.function, loop, reading)
        listed = listed_at(view, compiled.function, tensor) if reading.reads else None
    except RefusedError as refused:
        if reading.reads and _is_listed(view, compiled.function, tensor):
            yield ListedSite(_refusal(view, compiled, tensor, refused))
        return
    if listed is not None and _fits(listed, reading):
        shown = Obligation(NUMBER, Discharge.PROVED, "as sizes, bounds and steps, and in arithmetic", loop.lineno)
        yield ListedSite(_finding(view, compiled, tensor, listed, [shown, *reading.rounding]))


def _of_call(view: FileView, compiled: CompiledFunction, call: ast.Call) -> Iterator[ListedSite]:
    named = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not any(isinstance(one, ast.Name) for one in named):
        return
    callee = callee_of(view, compiled.function, call)
    if callee is None:
        return
    node = callee.function.node
    assert not isinstance(node, ast.Lambda)
    passed = arguments_of(node, call, bound=callee.bound)
    for parameter, argument in (passed or {}).items():
        if isinstance(argument, ast.Name):
            yield from _of_argument(view, compiled, callee, parameter, argument)


def _of_argument(
    view: FileView, compiled: CompiledFunction, callee: Callee, parameter: str, argument: ast.Name
) -> Iterator[ListedSite]:
    reading = _Reading()
    try:
        _read_parameter(view, callee.function, parameter, reading)
        listed = listed_at(view, compiled.function, argument) if reading.reads else None
    except RefusedError as refused:
        if reading.reads and _is_listed(view, compiled.function, argument):
            yield ListedSite(_refusal(view, compiled, argument, refused))
        return
    if listed is not None and _fits(listed, reading):
        needed = _way(view, callee, argument, listed)
        if needed.discharge is Discharge.VIOLATED:
            another = RefusedError(needed.claim, needed.reason, needed.line, ADVICE)
            yield ListedSite(_refusal(view, compiled, argument, another))
            return
        reason = f"{callee.function.name} uses them as sizes, bounds and steps, and in arithmetic"
        shown = Obligation(NUMBER, Discharge.PROVED, reason, callee.function.node.lineno)
        finding = _finding(view, compiled, argument, listed, [needed, shown, *reading.rounding])
        yield ListedSite(finding, callee.function, parameter)


def _way(view: FileView, callee: Callee, argument: ast.Name, listed: Listed) -> Obligation:
    """Whether the list comes to the function that was looked at, and nothing there changes it meanwhile."""
    call = next(one for one in view.source.ancestors(argument) if isinstance(one, ast.Call))
    for part in ast.walk(call):
        if isinstance(part, ast.Name) and part.id == listed.name:
            reason = f"{callee.function.name} gets {listed.name} as well, and may change it"
            return Obligation(UNCHANGED, Discharge.VIOLATED, reason, part.lineno)
    return runs(view, callee)


def _read_parameter(view: FileView, function: Function, parameter: str, reading: _Reading) -> None:
    """What a function reads of a parameter. Raises RefusedError for a use that tells a list from a tensor."""
    node = function.node
    if isinstance(node, ast.Lambda) or not any(one.function is function for one in view.compiled):
        return
    loops = [
        one for one in ast.walk(node) if isinstance(one, ast.For) and _goes_through(view, function, one, parameter)
    ]
    if not loops:
        return
    flow = flow_of(view, function)
    for loop in loops:
        _read_loop(view, function, loop, reading)
    if not reading.reads:
        return
    through = [iterated(flow, loop)[0] for loop in loops]
    bindings = view.names.local_bindings(node).get(parameter, [])
    if len(bindings) != 1:
        raise _refused(f"{parameter} is also set in {function.name}", bindings[-1].node)
    argument = bindings[0].node
    if isinstance(argument, ast.arg) and argument.annotation is not None:
        raise _refused(f"{function.name} says that {parameter} is of another type", argument)
    for part in ast.walk(node):
        if isinstance(part, ast.Yield | ast.YieldFrom | ast.Await):
            raise _refused(f"{function.name} runs in steps", part)
        if isinstance(part, ast.Name) and part.id == parameter and part not in through and not _is_length(view, part):
            text = " ".join(view.source.segment(view.source.parents[part]).split())
            raise _refused(f"{text} uses {parameter} for something else", part)


def _goes_through(view: FileView, function: Function, loop: ast.For, name: str) -> bool:
    tensor, _ = iterated(flow_of(view, function), loop)
    return tensor is not None and tensor.id == name and view.source.enclosing_function(loop) is function


def _is_length(view: FileView, name: ast.Name) -> bool:
    parent = view.source.parents[name]
    return isinstance(parent, ast.Call) and name in parent.args and view.names.is_builtin(parent.func, "len")


def _read_loop(view: FileView, function: Function, loop: ast.For, reading: _Reading) -> None:
    """What a loop over a tensor reads. Raises RefusedError for a use that tells a number from a tensor."""
    flow = flow_of(view, function)
    _, target = iterated(flow, loop)
    names = targets_of(target) if target is not None else []
    if not names or loop not in flow.before:
        raise _refused("the loop takes its elements apart in another way", loop)
    rank = 2 if isinstance(target, ast.Tuple) else 1
    if reading.rank not in (0, rank):
        raise _refused("another loop takes other elements", loop)
    uses = RowUses(flow, {name.id for name in names}, lenient=True)
    try:
        follow(uses, names, loop)
    finally:
        reading.reads = reading.reads or uses.reads
    reading.rank = rank
    reading.widths = (*reading.widths, len(names))
    reading.rounding = (*reading.rounding, *uses.rounding)


def _fits(listed: Listed, reading: _Reading) -> bool:
    same_width = listed.width is None or reading.rank == 1 or {*reading.widths} == {listed.width}
    return listed.rank == reading.rank and same_width


def _is_listed(view: FileView, function: Function, tensor: ast.Name) -> bool:
    """True when there is a list for the tensor, whatever happens to it."""
    try:
        return listed_at(view, function, tensor) is not None
    except RefusedError:
        return True


def _finding(
    view: FileView, compiled: CompiledFunction, tensor: ast.Name, listed: Listed, more: Sequence[Obligation]
) -> Finding:
    obligations = tuple(dict.fromkeys([*listed.obligations, *more]))
    fix = Fix(f"read {listed.name} in its place", (Replacement(view.source.span(tensor), listed.name),))
    return Finding(*_about(view, compiled, tensor), obligations, fix)


def _refusal(view: FileView, compiled: CompiledFunction, tensor: ast.Name, refused: RefusedError) -> Finding:
    return Finding(*_about(view, compiled, tensor), (refused.obligation,), advice=refused.advice)


def _about(view: FileView, compiled: CompiledFunction, tensor: ast.Name) -> tuple[str, str, Span, str, str, str]:
    message = MESSAGE.format(tensor.id)
    return (*LISTED, view.source.span(tensor), message, compiled.function.qualname, compiled.reason)


def _refused(reason: str, node: ast.AST) -> RefusedError:
    return RefusedError(NUMBER, reason, getattr(node, "lineno", 0), ADVICE)
