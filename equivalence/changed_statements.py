"""Which statements of the original a rewrite changes where no condition decides whether they run.

A message that is printed by the graph, a scalar that stays a tensor: no outcome tells whether examples came by, only
that the statement ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.equivalence.conditions import changed_conditions, changed_lines, condition_of, tests_of
from gbfix.equivalence.model import Condition

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def changed_places(original: str, rewritten: str, file: str) -> tuple[Condition, ...]:
    """The conditions of the original that the rewrite touches, then the other statements that it changes.

    Of a function of which only what stands around its body changed, such as a decorator, the first statement counts.
    """
    conditions = changed_conditions(original, rewritten, file)
    try:
        tree, new = ast.parse(original), ast.parse(rewritten)
    except (SyntaxError, ValueError):
        return conditions
    changed = changed_lines(original, rewritten) - _decided_by(tree, conditions)
    heads = {name: _head(function) for name, function in _functions(new)}
    found: dict[tuple[int, int], ast.stmt] = {}
    for name, function in _functions(tree):
        body = [s for s in function.body if not _is_text(s)]
        if body and name in heads and heads[name] != _head(function):
            found[body[0].lineno, body[0].col_offset] = body[0]
        for statement in _simple_statements(body):
            if changed.intersection(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)):
                found[statement.lineno, statement.col_offset] = statement
    return (*conditions, *(condition_of(found[place], original, file, "run") for place in sorted(found)))


def _decided_by(tree: ast.Module, conditions: Sequence[Condition]) -> set[int]:
    """The lines of conditions, and of what runs for one outcome of them: reaching that outcome is enough."""
    lines = {line for each in conditions for line in range(each.line, each.end_line + 1)}
    places = {(each.line, each.end_line) for each in conditions}
    for test in tests_of(tree):
        if (test.node.lineno, test.node.end_lineno) in places:
            for node in (*test.when_true, *test.when_false):
                lines.update(range(getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) + 1))
    return lines


def _head(function: _Function) -> tuple[str, ...]:
    """What stands around a body: decorators and parameters."""
    return (*(ast.dump(each) for each in function.decorator_list), ast.dump(function.args))


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function | ast.ClassDef):
            name = f"{prefix}{node.name}"
            if isinstance(node, _Function):
                yield name, node
            yield from _functions(node, f"{name}.")
        else:
            yield from _functions(node, prefix)


def _simple_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements without a block, those in blocks too, but none of functions and classes defined among them."""
    for statement in body:
        if isinstance(statement, _Function | ast.ClassDef):
            continue
        blocks = [value for _, value in ast.iter_fields(statement) if isinstance(value, list)]
        parts = [each for block in blocks for each in block]
        inner = [each for each in parts if isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case)]
        if not inner:
            if not _is_text(statement):
                yield statement
            continue
        for each in inner:
            yield from _simple_statements([each] if isinstance(each, ast.stmt) else each.body)


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, which runs nothing."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
