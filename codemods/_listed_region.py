"""What happens between the making of a tensor from a list and its use: neither may change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from gbfix.analysis.flow import Flow
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.codemods._listed_elements import Element
from gbfix.codemods._named_selections import own_expressions
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._unwritten import UNCHANGED, unwritten, written_by
from gbfix.engine.model import Discharge, Obligation

ADVICE = "read the numbers out of the list, where it is the same"
MAKERS = frozenset({"torch.tensor", "torch.as_tensor"})
_READING = frozenset({"len", "enumerate", "zip", "reversed", "list", "tuple", "sum", "max", "min", "sorted"})
_FIXED = frozenset({"shape", "device", "dtype", "ndim"})
_GIVING_NEW = frozenset(
    ("tolist", "item", "size", "numel", "dim", "sum", "prod", "max", "min", "cumsum", "clone", "new_zeros", "new_ones")
)
_NUMBERS = frozenset({"int", "float"})


class Region:
    """The statements that run between the making of a tensor and its use, all of a loop around the use included."""

    def __init__(self, view: FileView, statements: Sequence[ast.stmt], use: ast.AST, *, given: bool = False) -> None:
        """given: the use is an argument, together with the list, and what the call does is looked at elsewhere."""
        self._source = view.source
        around = [one for one in [use, *view.source.ancestors(use)] if isinstance(one, ast.stmt)]
        around = around[: around.index(statements[-1]) + 1]
        loops = [one for one in around if isinstance(one, ast.For | ast.AsyncFor | ast.While)]
        self.loops = bool(loops)
        self.statement = around[0]
        limit = view.source.span(loops[-1]).end if loops else view.source.span(around[0]).start
        inside = (part for one in statements for part in ast.walk(one) if isinstance(part, ast.stmt))
        self.statements = [part for part in inside if view.source.span(part).start < limit and part is not around[0]]
        self.limit = max(limit, view.source.span(around[0]).end if not loops else limit)
        self.line = statements[0].lineno
        self._view = view
        self._call = _call_of(view, use) if given and not loops else None

    def holds(self, node: ast.AST) -> bool:
        """True for a node that comes before everything is read."""
        in_the_call = self._call is not None and _call_of(self._view, node) is self._call
        return self._source.span(node).start < self.limit and not in_the_call


def _call_of(view: FileView, argument: ast.AST) -> ast.Call | None:
    """The call that a node is an argument of, itself."""
    parent = view.source.parents[argument]
    owner = view.source.parents[parent] if isinstance(parent, ast.keyword) else parent
    return owner if isinstance(owner, ast.Call) and owner.func is not argument else None


def tensor_unchanged(flow: Flow, use: ast.Name, region: Region, *, new: bool) -> Obligation:
    """The tensor is as it was made; new: in this region, so that no other name has it. Raises RefusedError."""
    names, function, name = flow.context.names, flow.context.function.node, use.id
    loads = [load for load in names.loads.get(name, ()) if names.lookup(name, load)[0] is function]
    for load in loads:
        if names.scope_of(load) is not function:
            raise RefusedError(UNCHANGED, f"{name} is used in an inner function", load.lineno, ADVICE)
    others = [load for load in loads if load is not use and region.holds(load)]
    if new and all(_is_harmless(flow, load) for load in others):
        return Obligation(UNCHANGED, Discharge.PROVED, f"nothing writes {name} before it is read", region.line)
    parents = flow.context.source.parents
    calls = list(_calls_before(flow, use, region))
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            raise RefusedError(UNCHANGED, f"{call.func.attr} writes in the same statement", call.lineno, ADVICE)
    state = flow.before.get(region.statement)
    for call in calls:
        if state is None:
            break
        effects = flow.evaluate(call, state)[1].effects
        if effects.writes or effects.impure:
            reason = f"{shorten(flow.context.source.segment(call))} may write {name}"
            return Obligation(UNCHANGED, Discharge.ASSUMED, reason, call.lineno)
    for load in others:
        if _is_written_by_call(parents, load):
            raise RefusedError(UNCHANGED, f"{name} is written before it is read", load.lineno, ADVICE)
        if not _is_harmless(flow, load) and not _is_given(parents, load):
            _check_nothing_written(flow, name, region)
    return unwritten(flow, name, region.statements, region.line, "before it is read", ADVICE)


def _is_given(parents: Mapping[ast.AST, ast.AST], load: ast.Name) -> bool:
    """True for an argument of a call."""
    parent = parents[load]
    return isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and load in parent.args)


def _is_written_by_call(parents: Mapping[ast.AST, ast.AST], load: ast.Name) -> bool:
    """True for `out=t` and `neg_(t)`."""
    match parents[load]:
        case ast.keyword(arg="out"):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.endswith("_")
    return False


def _check_nothing_written(flow: Flow, name: str, region: Region) -> None:
    """With another name for the tensor, or a part of it, whatever is written may be that. Raises RefusedError."""
    for statement in region.statements:
        state = flow.before.get(statement)
        if state is not None and any(written_by(flow, statement, state, stores=True)):
            reason = f"what is written may share its memory with {name}"
            raise RefusedError(UNCHANGED, reason, statement.lineno, ADVICE)


def _is_harmless(flow: Flow, load: ast.Name) -> bool:
    """True for a use of a tensor that neither writes it nor gives it, or a view of it, to anything else."""
    parents = flow.context.source.parents
    parent = parents[load]
    grand = parents[parent]
    match parent:
        case ast.Attribute(attr=attr):
            called = isinstance(grand, ast.Call) and grand.func is parent
            return attr in _FIXED or (called and attr in _GIVING_NEW)
        case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return True
        case ast.Subscript(value=value, ctx=ast.Load()) if value is load:
            while isinstance(grand, ast.Subscript) and grand.value is parent:
                parent, grand = grand, parents[grand]
            if isinstance(grand, ast.Attribute):
                return grand.attr == "item"
            taken = isinstance(grand, ast.Call) and parent in grand.args
            is_builtin = flow.context.names.is_builtin
            return taken and isinstance(grand, ast.Call) and any(is_builtin(grand.func, one) for one in _NUMBERS)
        case ast.Call(func=func) if load in parent.args:
            return flow.context.names.is_builtin(func, "len")
    return False


def _calls_before(flow: Flow, use: ast.Name, region: Region) -> Iterator[ast.Call]:
    """The other calls of the statement that run before everything is read."""
    source = flow.context.source
    around = list(source.ancestors(use))
    own = next((one for one in around if isinstance(one, ast.Call)), None)
    limit = source.span(own if own is not None else use).end
    for whole in own_expressions(region.statement):
        for node in ast.walk(whole):
            if isinstance(node, ast.Call) and node not in around and (source.span(node).start < limit or region.loops):
                yield node


def list_unchanged(
    view: FileView, bound: ast.AST, region: Region, element: Element | None, known: set[ast.Name]
) -> Obligation:
    """Nothing but `known` mentions change the list before it is read; element None: its rows may be changed, too.

    bound: a mention of the list, or the parameter that has it. Raises RefusedError.
    """
    name = bound.arg if isinstance(bound, ast.arg) else getattr(bound, "id", "")
    scope = view.names.lookup(name, bound)[0] if isinstance(bound, ast.Name) else view.source.parents[bound]
    if isinstance(scope, ast.arguments):
        scope = view.source.parents[scope]
    given: ast.Name | None = None
    for load in view.names.loads.get(name, ()):
        if view.names.lookup(name, load)[0] is not scope or load in known or not region.holds(load):
            continue
        calls = _given_to_call(view, load, element)
        if calls is None:
            reason = f"{shorten(view.source.segment(view.source.parents[load]))} may change {name}"
            raise RefusedError(UNCHANGED, reason, load.lineno, ADVICE)
        given = given or (load if calls else None)
    if given is None:
        return Obligation(UNCHANGED, Discharge.PROVED, f"nothing is put into {name}, or taken out", region.line)
    return Obligation(UNCHANGED, Discharge.ASSUMED, f"{name} is given to a call, which may change it", given.lineno)


def _given_to_call(view: FileView, load: ast.Name, element: Element | None) -> bool | None:
    """False for a use of a list that only reads it, True for one by an unknown call, None for another use."""
    parent = view.source.parents[load]
    may_change = element is None or element.changes
    if view.names.scope_of(load) is not view.names.lookup(load.id, load)[0]:
        return None
    match parent:
        case ast.Call(func=ast.Name(id=called) as func) if called in _READING and view.names.is_builtin(func, called):
            return None if may_change and called != "len" else False
        case ast.Call(func=func) if load in parent.args:
            return view.names.qualified(func) not in MAKERS
        case ast.keyword():
            return True
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated) if iterated is load:
            return None if may_change else False
        case ast.Subscript(value=value, ctx=ast.Load()) if value is load:
            return None if may_change else False
    return None
