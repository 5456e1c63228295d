from __future__ import annotations

import ast

import pytest

from gbfix.analysis.source import parse
from gbfix.codemods._tree import all_names, always_returns, captured_in, is_elif


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "captured"),
    [
        ("x + y * 2", ["x", "y"]),
        ("torch.add(x, other=y)", ["x", "y", "torch"]),
        ("x.abs()", ["x"]),
        ("self.scale * x", ["self.scale", "x"]),
        ("f(x)", ["x"]),
    ],
)
def test_what_is_called_is_not_captured(text: str, captured: list[str]) -> None:
    assert [ast.unparse(node) for node in captured_in(expression(text))] == captured


@pytest.mark.parametrize(
    ("text", "returns"),
    [
        ("return 1", True),
        ("if c:\n  return 1\nelse:\n  return 2", True),
        ("if c:\n  return 1\nelif d:\n  return 2\nelse:\n  return 3", True),
        ("if c:\n  return 1", False),
        ("if c:\n  return 1\nelse:\n  pass", False),
        ("x = 1", False),
    ],
)
def test_a_block_returns_when_both_sides_of_its_last_branch_do(text: str, returns: bool) -> None:
    assert always_returns(ast.parse(text).body) is returns


def test_an_empty_block_does_not_return() -> None:
    assert not always_returns([])


def test_parameters_are_taken_though_nothing_reads_them() -> None:
    assert all_names(ast.parse("def f(a, *, b): return lambda c: d")) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(("second", "expected"), [("elif d:\n    pass\n", True), ("else:\n    if d: pass\n", False)])
def test_an_elif_is_an_if_in_an_else_but_for_its_spelling(second: str, expected: bool) -> None:
    source = parse("program.py", "if c:\n    pass\n" + second)
    outer = source.tree.body[0]
    assert isinstance(outer, ast.If)
    assert is_elif(source, outer.orelse[0]) is expected
    assert not is_elif(source, outer)
