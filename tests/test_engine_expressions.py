from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replacing import edited

from gbfix.engine.edit import apply_fixes
from gbfix.engine.model import Fix, Replacement, Span

CALL = "torch.where(t, a, b)"


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("y = a if t else b\n", "a if t else b", CALL, f"y = {CALL}\n"),
        ("f(a if t else b, 1)\n", "a if t else b", CALL, f"f({CALL}, 1)\n"),
        ("y = x + (a if t else b)\n", "a if t else b", CALL, f"y = x + ({CALL})\n"),
        ("y = x + (a if t else b)\n", "(a if t else b)", CALL, f"y = x + {CALL}\n"),
        ("if t:\n    pass\n", "t", "(x > 0).any()", "if (x > 0).any():\n    pass\n"),
        ("if t:\n    pass\n", "t", "x > 0", "if x > 0:\n    pass\n"),
        ("if t:\n    pass\n", "t", "y := x", "if (y := x):\n    pass\n"),
        ("y = t + 1\n", "t", "a + b", "y = (a + b) + 1\n"),
        ("y = t + 1\n", "t", "3", "y = 3 + 1\n"),
        ("y = t.real\n", "t", "3", "y = (3).real\n"),
        ("y = t.real\n", "t", "a if b else c", "y = (a if b else c).real\n"),
        ("y = a < b\n", "a < b", "c == d", "y = c == d\n"),
        ("y = not q\n", "q", "a and b", "y = not (a and b)\n"),
        ("y = p and t\n", "t", "a != 0", "y = p and a != 0\n"),
        ("y = p and t\n", "t", "a or b", "y = p and (a or b)\n"),
        ("y = p if t else q\n", "t", "a or b", "y = p if a or b else q\n"),
        ("y = p if t else q\n", "t", "lambda: a", "y = p if (lambda: a) else q\n"),
        ("f(*t)\n", "t", "a or b", "f(*(a or b))\n"),
        ("y = t ** 2\n", "t", "-a", "y = (-a) ** 2\n"),
        ("y = [t]\n", "t", "a, b", "y = [(a, b)]\n"),
        ("return_ = (a, b)\n", "(a, b)", CALL, f"return_ = {CALL}\n"),
        ("def f():\n    return(a, b)\n", "(a, b)", CALL, f"def f():\n    return({CALL})\n"),
        ("def f():\n    return[a]if t else b\n", "[a]if t else b", CALL, f"def f():\n    return({CALL})\n"),
        ("y = 1if t else 2\n", "1", CALL, f"y = ({CALL})if t else 2\n"),
        ("y = x[t]\n", "t", "a if b else c", "y = x[a if b else c]\n"),
        ("y = ((t))\n", "(t)", "a or b", "y = (a or b)\n"),
        (
            "z = [\n    a\n    if t\n    else b\n]\n",
            "a\n    if t\n    else b",
            "f(\n    a\n)",
            "z = [\n    f(\n    a\n)\n]\n",
        ),
    ],
)
def test_parentheses_only_where_the_place_needs_them(text: str, old: str, new: str, after: str) -> None:
    assert edited(text, (old, new)) == after


OPERANDS = [
    "a",
    "b.c",
    "f(a)",
    "1",
    "-a",
    "not a",
    "a + b",
    "a * b",
    "a ** b",
    "a @ b",
    "a | b",
    "a < b",
    "a and b",
    "a or b",
]
EXPRESSIONS = st.sampled_from([*OPERANDS, "a if b else c", "lambda: a", "(yield)", "(a, b)", "[a]", "a[b]", "(a)"])


@settings(max_examples=300, deadline=None)
@given(
    pieces=st.lists(EXPRESSIONS, min_size=2, max_size=3),
    glue=st.sampled_from(
        [
            "{} + {}",
            "{} ** {}",
            "{} and {}",
            "{} < {}",
            "f({}, x={})",
            "f(*{}, **{})",
            "[{}, {}]",
            "{{{}: {}}}",
            "{}[{}]",
            "({}).x({})",
            "{} if x else {}",
            "lambda: {} or {}",
            "not {} | {}",
            "x[{}:{}]",
            "-{} @ {}",
            "[{} for x in {}]",
        ]
    ),
    new=EXPRESSIONS,
    pick=st.integers(0, 50),
)
def test_the_new_expression_is_what_stands_in_the_place(pieces: list[str], glue: str, new: str, pick: int) -> None:
    text = f"def f():\n    y = {glue.format(*pieces[:2])}\n"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and not isinstance(getattr(node, "ctx", None), ast.Store)
        and not isinstance(node, ast.Starred | ast.Slice)
    ]
    node = nodes[pick % len(nodes)]
    after = apply_fixes(text, [Fix("", (Replacement(_span(node), new),))])

    class Replace(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            return ast.parse(new, mode="eval").body if visited is node else self.generic_visit(visited)

    assert ast.dump(ast.parse(after)) == ast.dump(Replace().visit(tree))


def _span(node: ast.expr) -> Span:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
