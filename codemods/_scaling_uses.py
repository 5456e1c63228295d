"""What statements before a branch show of the gradients that it scales: that they are there."""

from __future__ import annotations

import ast


def changes_any(statement: ast.stmt, names: set[str]) -> bool:
    """True when a method of one of the names may change what it holds."""
    calls = [part for part in ast.walk(statement) if isinstance(part, ast.Call)]
    methods = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    changing = ("append", "extend", "insert", "remove", "pop", "clear", "zero_grad")
    return any(
        method.attr in changing and (method.attr == "zero_grad" or _root(method.value) in names) for method in methods
    )


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def uses_gradients(statement: ast.stmt, items: ast.expr) -> bool:
    """True for a statement that takes something from the gradient of each element, and so needs all of them."""
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For):
        return False
    wanted = ast.dump(items)
    loops: list[tuple[ast.expr, ast.expr, list[ast.AST]]] = []
    if isinstance(statement, ast.For):
        first = statement.body[0]
        plain = isinstance(first, ast.Assign | ast.AugAssign | ast.Expr)
        loops.append((statement.target, statement.iter, [first] if plain else []))
    for part in ast.walk(statement):
        if isinstance(part, ast.ListComp | ast.GeneratorExp | ast.SetComp) and len(part.generators) == 1:
            generator = part.generators[0]
            if not generator.ifs:
                loops.append((generator.target, generator.iter, [part.elt]))
    named = [
        (target.id, bodies)
        for target, iterated, bodies in loops
        if isinstance(target, ast.Name) and ast.dump(iterated) == wanted
    ]
    return any(_takes(body, name) for name, bodies in named for body in bodies)


def takes_from(statement: ast.stmt, text: str) -> bool:
    """True for a plain statement that certainly asks an attribute of what the text names."""
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
        return False
    conditional = ast.IfExp | ast.BoolOp | ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp
    parts = list(ast.walk(statement))
    asked = (part.value for part in parts if isinstance(part, ast.Attribute))
    return not any(isinstance(part, conditional) for part in parts) and any(ast.unparse(one) == text for one in asked)


def _takes(body: ast.AST, name: str) -> bool:
    conditional = ast.IfExp | ast.BoolOp | ast.Lambda
    if any(isinstance(part, conditional) for part in ast.walk(body)):
        return False
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Attribute)
        and part.value.attr == "grad"
        and isinstance(part.value.value, ast.Name)
        and part.value.value.id == name
        for part in ast.walk(body)
    )
