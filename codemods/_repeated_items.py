"""Elements of one tensor that a loop reads one by one, read at once before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, State, flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.tree import stored_names
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._named_selections import own_expressions
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_duties import ELEMENT, EXACT, TENSOR
from gbfix.codemods._scalar_reads import Read, reads_of
from gbfix.codemods._scalar_sites import captures_scalars, scalar_findings
from gbfix.codemods._text import indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

REPEATED = ("GBF204", "repeated-item")
UNCHANGED = "nothing before it changes what is read"
DIMENSION = "the tensor has one dimension"
_ADVICE = "read all elements with one tolist() before the loop, where the tensor does not change in it"
_PROVED, _ASSUMED = Discharge.PROVED, Discharge.ASSUMED


@dataclass(frozen=True)
class Repeated:
    """The elements of one tensor that a loop over `range` reads by its own index."""

    loop: ast.For
    tensor: ast.Name
    reads: Sequence[Read]


def repeated_findings(view: FileView) -> Iterator[Finding]:
    """Every tensor whose elements a loop of a compiled function reads one by one."""
    if captures_scalars(view):
        return
    kept = {finding.span for finding in scalar_findings(view) if finding.fix is not None}
    for compiled in view.compiled:
        if compiled.fullgraph is not True:
            flow = flow_of(view, compiled.function)
            reads = [read for read in reads_of(flow) if view.source.span(read.node) not in kept]
            for repeated in _repeated(flow, reads):
                if view.project.torch.captures("item"):
                    return
                yield _finding(view, compiled, flow, repeated)


def _repeated(flow: Flow, reads: Sequence[Read]) -> Iterator[Repeated]:
    found: dict[tuple[ast.For, str], list[Read]] = {}
    for read in reads:
        match read.tensor:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name() as index) if _place(read) is not None:
                loop = _loop_of(flow, read.node, index.id)
                if loop is not None:
                    found.setdefault((loop, name), []).append(read)
    for (loop, _), group in found.items():
        first = group[0].tensor
        assert isinstance(first, ast.Subscript)
        assert isinstance(first.value, ast.Name)
        yield Repeated(loop, first.value, group)


def _place(read: Read) -> ast.expr | None:
    """The expression that an element of the list takes the place of; None where no word reads the number."""
    match read.node:
        case ast.Call(func=ast.Attribute(attr="item")):
            return read.node
        case ast.Call(func=ast.Name(), args=[argument]) if not read.implicit:
            return argument
        case _:
            return None


def _loop_of(flow: Flow, node: ast.AST, index: str) -> ast.For | None:
    """The innermost loop over `range` around a node, whose index a name is."""
    for parent in flow.context.source.ancestors(node):
        if parent is flow.context.function.node:
            return None
        if isinstance(parent, ast.For) and index in stored_names([parent]):
            match parent:
                case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name() as func)) if (
                    name == index and flow.context.names.is_builtin(func, "range")
                ):
                    inside = index not in stored_names(parent.body) and node not in ast.walk(parent.iter)
                    return parent if inside and parent in flow.before else None
            return None
    return None


def _finding(view: FileView, compiled: CompiledFunction, flow: Flow, repeated: Repeated) -> Finding:
    message = f"elements of {repeated.tensor.id} read one by one"
    span = view.source.span(repeated.reads[0].node)
    about = (*REPEATED, span, message, compiled.function.qualname, compiled.reason)
    try:
        obligations = _obligations(flow, repeated)
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice)
    fix = Fix("read all elements at once, before the loop", (_replacement(view, repeated),))
    return Finding(*about, tuple(obligations), fix)


def _obligations(flow: Flow, repeated: Repeated) -> list[Obligation]:
    """What reading the elements before the loop relies on. Raises RefusedError."""
    loop, text, line = repeated.loop, repeated.tensor.id, repeated.loop.lineno
    state = flow.before[loop]
    value = flow.evaluate(repeated.tensor, state)[0]
    if not value.tensor_like:
        raise RefusedError(TENSOR, f"nothing shows that {text} is a tensor before the loop", line, _ADVICE)
    known = value.kind is Kind.TENSOR and not value.assumed
    found = [Obligation(TENSOR, _PROVED, f"{text} is one", line)]
    if not known:
        found = [Obligation(TENSOR, _ASSUMED, f"nothing shows that {text} is a tensor", line)]
    ranks = sizes.ranks(value.shape or ())
    if (ranks and ranks != {1}) or value.is_scalar:
        raise RefusedError(DIMENSION, f"{text} has {max(ranks, default=0)}", line, _ADVICE)
    shown = _PROVED if ranks else _ASSUMED
    found.append(Obligation(DIMENSION, shown, f"{text} has" if ranks else f"the shape of {text} is not known", line))
    within = _exists(flow, repeated, value)
    reason = f"the loop stays within {text}" if within else f"the text of the error is another one outside of {text}"
    found.append(Obligation(ELEMENT, _PROVED if within else _ASSUMED, reason, line))
    found += _number_obligations(repeated, value, text, line)
    found.append(_unchanged(flow, repeated))
    return found


def _number_obligations(repeated: Repeated, value: Value, text: str, line: int) -> list[Obligation]:
    category = value.dtype.category if value.dtype is not None else None
    if category in (Category.INT, Category.BOOL) or not any(read.warns for read in repeated.reads):
        return []
    found = []
    if category is not Category.FLOAT:
        found.append(Obligation(EXACT, _ASSUMED, f"{text} may hold complex numbers", line))
    if value.sources and not all(read.state.gradients_off for read in repeated.reads):
        reason = f"taking a number out of {text} warns once where it requires a gradient"
        found.append(Obligation("nobody relies on a warning", _ASSUMED, reason, line))
    return found


def _exists(flow: Flow, repeated: Repeated, value: Value) -> bool:
    """True when the indices of the loop are places of the tensor."""
    assert isinstance(repeated.loop.iter, ast.Call)
    name = repeated.tensor.id
    if repeated.loop.iter.keywords or len(repeated.loop.iter.args) != 1:
        return False
    match repeated.loop.iter.args[0]:
        case ast.Constant(value=int(count)):
            series = sizes.element_counts(next(iter(value.shape))) if value.shape and len(value.shape) == 1 else None
            return bool(series) and all(count <= size for size in series or ())
        case ast.Call(func=ast.Name() as func, args=[ast.Name(id=other)]):
            return flow.context.names.is_builtin(func, "len") and other == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="numel"), args=[]):
            return other == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="size"), args=[ast.Constant(value=0)]):
            return other == name
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=other), attr="shape"), slice=ast.Constant(value=0 | -1)
        ):
            return other == name
        case _:
            return False


def _unchanged(flow: Flow, repeated: Repeated) -> Obligation:
    """Nothing in the loop may write the tensor. Raises RefusedError where something does."""
    name = repeated.tensor.id
    if name in stored_names([repeated.loop]) or not flow.context.is_local(name):
        raise RefusedError(UNCHANGED, f"the loop sets {name}", repeated.loop.lineno, _ADVICE)
    for statement in (part for part in ast.walk(repeated.loop) if isinstance(part, ast.stmt)):
        state = flow.before.get(statement)
        if statement is repeated.loop or state is None:
            continue
        roots = [_root(target) for target in _written(flow, statement, state)]
        if name in roots:
            raise RefusedError(UNCHANGED, f"{name} is written in the loop", statement.lineno, _ADVICE)
        owned = [state.values[root].fresh if root in state.values else False for root in roots]
        if not all(owned):
            reason = f"what is written in the loop may share its memory with {name}"
            return Obligation(UNCHANGED, _ASSUMED, reason, statement.lineno)
        for expression in own_expressions(statement):
            effects = flow.evaluate(_added(flow, expression), state)[1].effects
            if effects.writes or effects.impure:
                note = next(iter(effects.impure), None)
                reason = note.text if note is not None else f"something may write {name}"
                return Obligation(UNCHANGED, _ASSUMED, reason, statement.lineno)
    return Obligation(UNCHANGED, _PROVED, f"nothing writes {name} in the loop", repeated.loop.lineno)


def _written(flow: Flow, statement: ast.stmt, state: State) -> Iterator[ast.expr]:
    """The objects that a statement stores into, and tensors that it writes by an operator or method of their own."""
    if isinstance(statement, ast.AugAssign):
        value = (
            flow.evaluate(ast.Name(statement.target.id), state)[0] if isinstance(statement.target, ast.Name) else None
        )
        if value is None or value.kind is not Kind.NUMBER:
            yield statement.target
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.Delete | ast.For | ast.With):
        for part in ast.walk(statement):
            if isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(part.ctx, ast.Load):
                yield part
    for expression in own_expressions(statement):
        for part in ast.walk(expression):
            match part:
                case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name.endswith("_"):
                    yield owner


def _root(node: ast.expr) -> str:
    """The name that an attribute, element or method belongs to; empty for another expression."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _added(flow: Flow, node: ast.expr) -> ast.expr:
    """What `parts.append(...)` of a list made here is given, since adding it writes no tensor; other expressions."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as owner, attr="append"), args=[argument]):
            bindings = flow.context.names.bindings(name, owner)
            made = [binding.statement for binding in bindings]
            if made and all(isinstance(one, ast.Assign) and isinstance(one.value, ast.List) for one in made):
                return argument
    return node


def _replacement(view: FileView, repeated: Repeated) -> Replacement:
    """The loop with one reading before it."""
    source, loop = view.source, repeated.loop
    span = source.span(loop)
    listed = unused_name(f"{repeated.tensor.id}_values", frozenset(all_names(source.tree)))
    lines = source.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    places = [(source.span(place), read.tensor) for read in repeated.reads if (place := _place(read)) is not None]
    for where, tensor in sorted(places, key=lambda pair: pair[0], reverse=True):
        assert isinstance(tensor, ast.Subscript)
        new = f"{listed}[{source.segment(tensor.slice)}]"
        first, last = where.line - span.line, where.end_line - span.line
        lines[first : last + 1] = [lines[first][: where.column] + new + lines[last][where.end_column :]]
    indentation = indentation_of(source, loop)
    block = reindented("\n".join(lines)[len(indentation) :], indentation, "")
    return Replacement(span, f"{listed} = {repeated.tensor.id}.tolist()\n{block}")
