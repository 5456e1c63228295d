"""Tensors that are made from a list of integers which is still there, unchanged, where the tensor is used."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.codemods._listed_calls import arguments_of, known_calls
from gbfix.codemods._listed_elements import WHOLE, Elements
from gbfix.codemods._listed_region import ADVICE, MAKERS, Region, list_unchanged, tensor_unchanged
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

MADE = "the tensor is made from the list"
_INTEGERS = frozenset({"torch.int64", "torch.long"})
_DEPTH = 3


@dataclass(frozen=True)
class Listed:
    """The list that has the numbers of a tensor at some place. rank: the dimensions that the tensor has then.

    width, length: how many numbers a row has, and how many elements the list, where that is known.
    """

    name: str
    rank: int
    obligations: tuple[Obligation, ...]
    width: int | None = None
    length: int | None = None


@dataclass(frozen=True)
class _Making:
    """The statement that makes a tensor, and the name of the list in it; `first` is the one that makes the list."""

    statement: ast.Assign
    listed: ast.Name
    call: ast.Call
    first: ast.stmt


def listed_at(view: FileView, function: Function, use: ast.Name, depth: int = 0) -> Listed | None:
    """The list for a tensor at one of its uses, None where there is none.

    Raises RefusedError where there is a list that may have other numbers than the tensor.
    """
    if depth > _DEPTH or isinstance(function.node, ast.Lambda):
        return None
    binding = _single(view, function, use)
    if isinstance(binding, ast.arg):
        return _from_callers(view, function, use, depth)
    making = _making(view, function, binding) if binding is not None else None
    if making is None:
        return None
    return _made_here(view, function, use, making, given=depth > 0)


def _single(view: FileView, function: Function, name: ast.Name) -> ast.AST | None:
    """The node that alone gives a name of the function its value."""
    scope, bindings = view.names.lookup(name.id, name)
    if scope is not function.node or name.id in view.names.declared_outer(scope) or len(bindings) != 1:
        return None
    return bindings[0].node


def _making(view: FileView, function: Function, binding: ast.AST) -> _Making | None:
    statement = view.source.parents.get(binding)
    match statement:
        case ast.Assign(targets=[target], value=ast.Call(func=func, args=[ast.Name() as listed]) as call) if (
            target is binding and view.names.qualified(func) in MAKERS
        ):
            made = _single(view, function, listed)
            first = view.source.parents.get(made) if isinstance(made, ast.Name) else None
            if isinstance(first, ast.Assign) and first.targets == [made] and isinstance(statement, ast.Assign):
                return _Making(statement, listed, call, first)
    return None


# -- made in the same function ---------------------------------------------------------------


def _made_here(view: FileView, function: Function, use: ast.Name, making: _Making, *, given: bool) -> Listed | None:
    block = _block_of(view, making.statement)
    top = next((one for one in [use, *view.source.ancestors(use)] if one in block), None)
    if top is None or making.first not in block:
        return None
    start, made, end = (block.index(one) for one in (making.first, making.statement, top))
    if not start < made < end:
        return None
    _check_dtype(view, making.call)
    flow = flow_of(view, function)
    region = Region(view, block[made + 1 : end + 1], use, given=given)
    appended = _appended(view, making, block[start + 1 : made])
    element, whole = Elements(flow).all_of([*_first_elements(making), *appended.values()])
    line = making.statement.lineno
    return Listed(
        making.listed.id,
        element.rank + 1,
        (
            Obligation(MADE, Discharge.PROVED, shorten(view.source.segment(making.call)), line),
            *whole,
            list_unchanged(view, making.listed, region, element, {making.listed, *appended}),
            tensor_unchanged(flow, use, region, new=True),
        ),
        element.width,
        None if appended else _length(making),
    )


def _length(making: _Making) -> int | None:
    value = making.first.value if isinstance(making.first, ast.Assign) else None
    return len(value.elts) if isinstance(value, ast.List | ast.Tuple) else None


def _block_of(view: FileView, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which a statement stands."""
    parent = view.source.parents[statement]
    blocks = [value for _, value in ast.iter_fields(parent) if isinstance(value, list) and statement in value]
    return blocks[0]


def _check_dtype(view: FileView, call: ast.Call) -> None:
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    dtype = words.get("dtype")
    if not words.keys() <= {"dtype", "device"}:
        raise RefusedError(WHOLE, "the tensor is made with other options", call.lineno, ADVICE)
    if dtype is not None and view.names.qualified(dtype) not in _INTEGERS:
        reason = f"{view.source.segment(dtype)} may hold other numbers than the list"
        raise RefusedError(WHOLE, reason, dtype.lineno, ADVICE)


def _first_elements(making: _Making) -> Sequence[ast.expr]:
    assert isinstance(making.first, ast.Assign)
    match making.first.value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
        case ast.ListComp(elt=element):
            return [element]
    raise RefusedError(WHOLE, f"nothing shows it of {making.listed.id}", making.first.lineno, ADVICE)


def _appended(view: FileView, making: _Making, between: Sequence[ast.stmt]) -> dict[ast.Name, ast.expr]:
    """What is appended to the list before the tensor is made, by the mention of the list."""
    found, scope = {}, view.names.scope_of(making.listed)
    for part in (one for statement in between for one in ast.walk(statement)):
        match part:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name) as owner, attr="append"), args=[element], keywords=[]
                )
            ) if name == making.listed.id and view.names.scope_of(owner) is scope:
                found[owner] = element
    return found


# -- given by callers ------------------------------------------------------------------------


def _from_callers(view: FileView, function: Function, use: ast.Name, depth: int) -> Listed | None:
    """The parameter that has the list where all calls pass a tensor and the list that it is made from."""
    assert not isinstance(function.node, ast.Lambda)
    calls = known_calls(view, function)
    found: set[str] = set()
    each: list[Listed] = []
    for call in calls:
        passed = arguments_of(function.node, call.node, bound=call.bound)
        argument = passed.get(use.id) if passed is not None else None
        if passed is None or not isinstance(argument, ast.Name):
            return None
        listed = listed_at(call.view, call.caller, argument, depth + 1)
        if listed is None:
            return None
        each.append(listed)
        same = {
            parameter for parameter, value in passed.items() if isinstance(value, ast.Name) and value.id == listed.name
        }
        found = same if len(each) == 1 else found & same
    if not each or not found or len({(one.rank, one.width) for one in each}) > 1:
        return None
    return _parameter(view, function, use, sorted(found)[0], each, given=depth > 0)


def _parameter(
    view: FileView, function: Function, use: ast.Name, name: str, each: Sequence[Listed], *, given: bool
) -> Listed | None:
    assert not isinstance(function.node, ast.Lambda)
    body = function.node.body
    top = next((one for one in [use, *view.source.ancestors(use)] if one in body), None)
    bindings = view.names.local_bindings(function.node).get(name, [])
    if top is None or len(bindings) != 1:
        return None
    region = Region(view, body[: body.index(top) + 1], use, given=given)
    count = "the one call" if len(each) == 1 else f"the {len(each)} calls"
    reason = f"{use.id} and {name} are, in {count} in the given files; nothing shows it of others"
    assumed = [one for listed in each for one in listed.obligations if one.discharge is not Discharge.PROVED]
    return Listed(
        name,
        each[0].rank,
        (
            Obligation(MADE, Discharge.ASSUMED, reason, function.node.lineno),
            *assumed,
            list_unchanged(view, bindings[0].node, region, None, set()),
            tensor_unchanged(flow_of(view, function), use, region, new=False),
        ),
        each[0].width,
    )


def may_be_list(view: FileView, function: Function, name: ast.Name, depth: int = 0) -> bool:
    """True for a name that is a list, and for a parameter for which a call of the file passes one."""
    binding = _single(view, function, name)
    if isinstance(binding, ast.arg) and depth <= _DEPTH and not isinstance(function.node, ast.Lambda):
        for call in known_calls(view, function):
            passed = arguments_of(function.node, call.node, bound=call.bound) or {}
            argument = passed.get(name.id)
            if isinstance(argument, ast.Name) and may_be_list(call.view, call.caller, argument, depth + 1):
                return True
        return False
    statement = view.source.parents.get(binding) if binding is not None else None
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List | ast.ListComp | ast.Tuple)
