"""Whether statements leave a tensor as it is, so that it can be read once before them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.tree import names_in
from gbfix.analysis.values import Kind
from gbfix.codemods._named_selections import own_expressions
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Discharge, Obligation

UNCHANGED = "nothing before it changes what is read"


def unwritten(
    flow: Flow,
    name: str,
    statements: Iterable[ast.stmt],
    line: int,
    where: str,
    advice: str,
    last: ast.stmt | None = None,
    reads: Iterable[ast.AST] = (),
) -> Obligation:
    """Nothing in some statements may write the tensor of a name; `last` stores after everything is read.

    reads: the readings; line: where the statements begin; where: what they are, in words. Raises RefusedError
    where one writes it.
    """
    inside = list(statements)
    if _is_out_of_reach(flow, name, inside, reads):
        return Obligation(UNCHANGED, Discharge.PROVED, f"nothing but the readings reaches {name} {where}", line)
    for statement in inside:
        state = flow.before.get(statement)
        if state is None:
            continue
        roots = [_root(target) for target in written_by(flow, statement, state, stores=statement is not last)]
        if name in roots:
            raise RefusedError(UNCHANGED, f"{name} is written {where}", statement.lineno, advice)
        owned = [state.values[root].fresh if root in state.values else False for root in roots]
        if not all(owned):
            reason = f"what is written {where} may share its memory with {name}"
            return Obligation(UNCHANGED, Discharge.ASSUMED, reason, statement.lineno)
        for expression in own_expressions(statement):
            effects = flow.evaluate(_rewritten(flow, expression, state), state)[1].effects
            if effects.writes or effects.impure:
                note = next(iter(effects.impure), None)
                reason = note.text if note is not None else f"something may write {name}"
                return Obligation(UNCHANGED, Discharge.ASSUMED, reason, statement.lineno)
    return Obligation(UNCHANGED, Discharge.PROVED, f"nothing writes {name} {where}", line)


def _is_out_of_reach(flow: Flow, name: str, statements: Sequence[ast.stmt], reads: Iterable[ast.AST]) -> bool:
    """True when no other name leads to the tensor, and its own is only used to read it."""
    state = flow.before.get(statements[0]) if statements else None
    if state is None or name not in state.values or not state.values[name].fresh:
        return False
    own = {part for node in reads for part in ast.walk(node)}
    function = flow.context.function.node
    inner = [node for node in ast.walk(function) if isinstance(node, FunctionNode) and node is not function]
    mentions = [part for node in [*statements, *inner] for part in ast.walk(node) if part not in own]
    return not any(isinstance(part, ast.Name) and part.id == name for part in mentions)


def written_by(flow: Flow, statement: ast.stmt, state: State, *, stores: bool) -> Iterator[ast.expr]:
    """The objects that a statement stores into, and tensors that it writes by an operator or method of their own."""
    if not stores:
        pass
    elif isinstance(statement, ast.AugAssign):
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


def _rewritten(flow: Flow, node: ast.expr, state: State) -> ast.expr:
    """An expression that does no more than another one, in a form that can be followed.

    `parts.append(...)` of a list made here is what it is given, since adding it writes no tensor; a list made by a
    comprehension is its parts, unless its variables stand for something else around it.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as owner, attr="append"), args=[argument]):
            bindings = flow.context.names.bindings(name, owner)
            made = [binding.statement for binding in bindings]
            if made and all(isinstance(one, ast.Assign) and isinstance(one.value, ast.List) for one in made):
                return _rewritten(flow, argument, state)
        case ast.ListComp(elt=element, generators=generators):
            parts = [part for one in generators for part in (one.iter, *one.ifs)]
            targets = {name for one in generators for name in names_in([one.target])}
            if not targets & set(state.values) and not any(one.is_async for one in generators):
                return ast.copy_location(ast.Tuple([*parts, element], ast.Load()), node)
    return node
