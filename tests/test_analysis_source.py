import ast
import warnings
from collections.abc import Callable

import pytest

from gbfix.analysis.source import SourceFile, check_syntax, parse
from gbfix.engine.model import SourceError, Span


def qualnames(text: str) -> list[tuple[str, str | None]]:
    functions = parse("case.py", text).functions
    return [(function.qualname, function.owner.name if function.owner else None) for function in functions]


def node_at(source: SourceFile, spelling: str) -> ast.expr:
    return next(n for n in ast.walk(source.tree) if isinstance(n, ast.expr) and ast.unparse(n) == spelling)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = = 2\n", "case.py:2: not valid Python"),
        ("def f(:\n", "case.py:1: not valid Python"),
        ("x = '\0'\n", "case.py"),
        ("(" * 5000, "case.py"),
    ],
)
def test_unreadable_text_is_a_source_error(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse("case.py", text)


def test_functions_with_their_names_and_owners() -> None:
    text = (
        "def f():\n  def g(): pass\n  h = lambda: (lambda: 0)\n"
        "class A:\n  if flag:\n    def m(self): pass\n  class B:\n    async def n(self): pass\n"
    )
    assert qualnames(text) == [
        ("f", None),
        ("f.<locals>.g", None),
        ("f.<locals>.<lambda>", None),
        ("f.<locals>.<lambda>.<locals>.<lambda>", None),
        ("A.m", "A"),
        ("A.B.n", "B"),
    ]


def test_lambda_in_a_default_or_decorator_is_outside_the_function() -> None:
    text = "@deco(lambda: 0)\ndef f(x=lambda: 1): return lambda: 2\n"
    assert qualnames(text) == [("f", None), ("<lambda>", None), ("<lambda>", None), ("f.<locals>.<lambda>", None)]


def test_enclosing_function() -> None:
    source = parse("case.py", "def f(a=outside):\n  def g(b=middle):\n    return inside\n")
    names = {
        spelling: source.enclosing_function(node_at(source, spelling)) for spelling in ("outside", "middle", "inside")
    }
    assert names["outside"] is None
    assert names["middle"] is source.functions[0]
    assert names["inside"] is source.functions[1]


def test_parameters_in_order() -> None:
    source = parse("case.py", "def f(a, /, b, *c, d, **e): pass\n")
    assert [parameter.arg for parameter in source.functions[0].parameters] == ["a", "b", "c", "d", "e"]


def test_columns_count_characters() -> None:
    source = parse("case.py", "s = 'äöü'; value = s\n")
    assert source.span(node_at(source, "value")) == Span(1, 11, 1, 16)
    assert source.segment(node_at(source, "value")) == "value"


def test_segment_over_lines_with_foreign_line_ends() -> None:
    source = parse("case.py", "x = f(\r\n    'ä',\r\n)\r\n")
    assert source.segment(node_at(source, "f('ä')")) == "f(\n    'ä',\n)"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("@deco\ndef f(): pass\n", (1, 0)),
        ("class A:\n    @ deco\n    @other\n    def f(self): pass\n", (2, 4)),
        ("@(\n    deco\n)\ndef f(): pass\n", (1, 0)),
        ("# @not\n@deco(\n    '@')\ndef f(): pass\n", (2, 0)),
    ],
)
def test_decorators_belong_to_the_span(text: str, start: tuple[int, int]) -> None:
    source = parse("case.py", text)
    assert source.span(source.functions[0].node).start == start


@pytest.mark.parametrize("text", ["x = " + " + ".join("a" * 900), "if a: pass\n" + "elif a: pass\n" * 900])
def test_functions_of_a_deep_tree(text: str) -> None:
    assert parse("case.py", text + "\ndef f(): pass\n").functions[-1].name == "f"


def test_ancestors_end_with_the_module() -> None:
    source = parse("case.py", "def f():\n  return x\n")
    kinds = [type(node).__name__ for node in source.ancestors(node_at(source, "x"))]
    assert kinds == ["Return", "FunctionDef", "Module"]


@pytest.mark.parametrize("look", [parse, check_syntax])
def test_what_python_warns_of_is_for_python_to_say(look: Callable[[str, str], object]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        look("m.py", "x = '\\d'\ny = 1 is 1\n")
    assert not seen
