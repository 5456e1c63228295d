"""Numbers that `t.tolist()`, `t[0].item()` or `int(t[0])` reads out of a tensor though its list is there."""

from __future__ import annotations

import ast
from functools import lru_cache

from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.literals import constant_place
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.values import Kind
from gbfix.codemods._listed import Listed, listed_at
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Safety

LISTED = ("GBF208", "listed-values")
MESSAGE = "numbers are read out of the tensor {}, not out of its list"
_EXISTS = "the element exists"
_SAME = "the list gives the same Python numbers"
_WALKING = frozenset({"enumerate", "zip", "reversed"})
_TAKING = frozenset({"sum", "max", "min", "len", "any", "all"})
_SPLITTING = frozenset({"split", "split_with_sizes"})


@dataclass(frozen=True)
class _Place:
    """A reading. node: the expression; replaced: what the list takes the place of; indices: the element, if one."""

    node: ast.Call
    replaced: ast.expr
    tensor: ast.Name
    indices: tuple[ast.expr, ...] = ()


def listed_reads(view: FileView) -> tuple[Finding, ...]:
    """The readings of a file, in source order."""
    return tuple(finding for _, finding in _found(view))


def listed_nodes(view: FileView) -> frozenset[ast.AST]:
    """The expressions that read such numbers, where the list takes their place."""
    return frozenset(node for node, finding in _found(view) if finding.safety is not Safety.REFUSED)


@lru_cache(maxsize=2)
def _found(view: FileView) -> tuple[tuple[ast.Call, Finding], ...]:
    if "tensor(" not in view.source.text:
        return ()
    found = []
    for compiled in view.compiled:
        if compiled.fullgraph is True or isinstance(compiled.function.node, ast.Lambda):
            continue
        for node in ast.walk(compiled.function.node):
            if isinstance(node, ast.Call) and view.names.scope_of(node) is compiled.function.node:
                place = _place(view, compiled, node)
                finding = _finding(view, compiled, place) if place is not None else None
                if finding is not None:
                    found.append((node, finding))
    return tuple(sorted(found, key=lambda one: one[1].span))


def _place(view: FileView, compiled: CompiledFunction, node: ast.Call) -> _Place | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name() as tensor, attr="tolist"), args=[], keywords=[]):
            return _Place(node, node, tensor)
        case ast.Call(func=ast.Attribute(value=ast.Subscript() as element, attr="item"), args=[], keywords=[]):
            return _of_element(view, compiled, node, node, element)
        case ast.Call(
            func=ast.Name(id="int" | "float" as kind) as func, args=[ast.Subscript() as element], keywords=[]
        ):
            if view.names.is_builtin(func, kind):
                return _of_element(view, compiled, node, element, element)
    return None


def _of_element(
    view: FileView, compiled: CompiledFunction, node: ast.Call, replaced: ast.expr, element: ast.expr
) -> _Place | None:
    """The reading of one element, of which integers say the place."""
    indices: list[ast.expr] = []
    while isinstance(element, ast.Subscript):
        inner = element.slice
        indices[:0] = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        element = element.value
    flow = flow_of(view, compiled.function)
    if not isinstance(element, ast.Name) or not all(_is_integer(flow, index) for index in indices):
        return None
    return _Place(node, replaced, element, tuple(indices))


def _is_integer(flow: Flow, node: ast.expr) -> bool:
    if constant_place(node) is not None:
        return True
    statement = next((one for one in flow.context.source.ancestors(node) if isinstance(one, ast.stmt)), None)
    state = flow.before.get(statement) if statement is not None else None
    value = flow.evaluate(node, state)[0] if state is not None and isinstance(node, ast.Name) else None
    return value is not None and value.kind is Kind.NUMBER and value.number == "int" and value.scalar_of is None


def _finding(view: FileView, compiled: CompiledFunction, place: _Place) -> Finding | None:
    tensor, line = place.tensor, place.node.lineno
    about = (
        *LISTED,
        view.source.span(place.node),
        MESSAGE.format(tensor.id),
        compiled.function.qualname,
        compiled.reason,
    )
    try:
        listed = listed_at(view, compiled.function, tensor)
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice)
    if listed is None:
        return None
    if place.indices:
        if listed.rank != len(place.indices):
            return None
        extra = _exists(place, listed)
        text = listed.name + "".join(f"[{view.source.segment(index)}]" for index in place.indices)
    else:
        if not _only_numbers(view, place.node, listed):
            return None
        extra = Obligation(_SAME, Discharge.PROVED, f"only the numbers in {listed.name} are used", line)
        text = listed.name
    fix = Fix(f"read {listed.name} in its place", (Replacement(view.source.span(place.replaced), text),))
    return Finding(*about, (*listed.obligations, extra), fix)


def _exists(place: _Place, listed: Listed) -> Obligation:
    line = place.node.lineno
    for index, size in zip(place.indices, (listed.length, listed.width), strict=False):
        number = constant_place(index)
        if number is None or size is None or not -size <= number < size:
            reason = f"the text of the error is another one outside of {listed.name}"
            return Obligation(_EXISTS, Discharge.ASSUMED, reason, line)
    return Obligation(_EXISTS, Discharge.PROVED, f"{listed.name} has it", line)


def _only_numbers(view: FileView, node: ast.expr, listed: Listed) -> bool:
    """True where lists of numbers are taken apart to numbers, whatever kind of list they are."""
    parent = view.source.parents[node]
    grand = view.source.parents[parent]
    match parent:
        case ast.For(iter=iterated, target=target) | ast.comprehension(iter=iterated, target=target):
            return iterated is node and _takes_apart(target, listed)
        case ast.Call(func=ast.Name(id=called) as func, args=args) if called in _WALKING and view.names.is_builtin(
            func, called
        ):
            return _walked(grand, parent, called, args.index(node) if node in args else -1, listed)
        case ast.Call(func=ast.Name(id=called) as func, args=[_], keywords=[]) if called in _TAKING:
            return view.names.is_builtin(func, called) and (listed.rank == 1 or called == "len")
        case ast.Call(func=func, args=args):
            splits = isinstance(func, ast.Attribute) and func.attr in _SPLITTING
            return splits and listed.rank == 1 and node in args
        case ast.Subscript():
            return _fully_indexed(view, node, listed.rank)
    return False


def _walked(grand: ast.AST, call: ast.Call, called: str, place: int, listed: Listed) -> bool:
    """The same for one of the arguments of `enumerate`, `zip` or `reversed`."""
    if not isinstance(grand, ast.For | ast.comprehension) or grand.iter is not call or place < 0:
        return False
    if called == "reversed":
        return _takes_apart(grand.target, listed)
    if not isinstance(grand.target, ast.Tuple) or any(isinstance(one, ast.Starred) for one in grand.target.elts):
        return False
    if called == "enumerate":
        place += 1
    return place < len(grand.target.elts) and _takes_apart(grand.target.elts[place], listed)


def _takes_apart(target: ast.expr, listed: Listed) -> bool:
    """True when a target gets one number for each of its names."""
    if listed.rank == 1:
        return isinstance(target, ast.Name)
    if listed.rank != 2 or not isinstance(target, ast.Tuple):
        return False
    return all(isinstance(part, ast.Name) for part in target.elts)


def _fully_indexed(view: FileView, node: ast.expr, rank: int) -> bool:
    """True for `t.tolist()[0][1]`, with as many indices as the tensor has dimensions."""
    count = 0
    parent = view.source.parents[node]
    while isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        if isinstance(parent.slice, ast.Slice):
            return False
        count, node = count + 1, parent
        parent = view.source.parents[node]
    return count == rank
