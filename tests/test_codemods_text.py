from __future__ import annotations

import ast
import textwrap

import pytest

from gbfix.analysis.source import SourceFile, parse
from gbfix.codemods._text import (
    call,
    in_style_of,
    indentation_of,
    on_its_own,
    reindented,
    render,
    trailing_comment,
    unused_name,
)


def assigned(text: str) -> tuple[SourceFile, ast.expr]:
    """A file, and the value of its first assignment."""
    source = parse("program.py", text)
    return source, next(node.value for node in ast.walk(source.tree) if isinstance(node, ast.Assign))


def rendered(text: str, **renames: str) -> str | None:
    source, value = assigned(text)
    return render(source, value, renames, indentation_of(source, value))


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("y = x + x.x(x=x)", "first + first.x(x=first)"),
        ("y = '\N{GREEK SMALL LETTER ALPHA}' + x + x", "'\N{GREEK SMALL LETTER ALPHA}' + first + first"),
        ("y = xx + x  # x", "xx + first"),
        ("y = f('x', x)", "f('x', first)"),
        ("y = (x)", "first"),
    ],
)
def test_names_are_replaced_and_nothing_else(text: str, new: str) -> None:
    assert rendered(text, x="first") == new


def test_a_name_may_be_replaced_on_each_of_several_lines() -> None:
    assert (
        rendered("y = f(x,\n      z, x)[x]", x="a_longer_name")
        == "f(a_longer_name,\n      z, a_longer_name)[a_longer_name]"
    )


def test_two_names_may_change_places() -> None:
    assert rendered("y = a - b", a="b", b="a") == "b - a"


def test_a_name_inside_an_f_string_cannot_be_replaced() -> None:
    assert rendered("y = f(f'{x}')", x="first") is None
    assert rendered("y = f(f'{z}', x)", x="first") == "f(f'{z}', first)"


def test_continuation_lines_lose_the_indentation_of_the_block() -> None:
    text = "def g():\n    if a:\n        y = f(\n            x,\n        )\n"
    assert rendered(text) == "f(\n    x,\n)"


@pytest.mark.parametrize("prefix", ["", "f"])
def test_lines_inside_a_string_keep_their_blanks(prefix: str) -> None:
    text = f'def g():\n    y = f({prefix}"""a\n    b""",\n        x)\n'
    assert rendered(text) == f'f({prefix}"""a\n    b""",\n    x)'


@pytest.mark.parametrize(
    ("text", "statement"),
    [("a\n+ b", "(a\n+ b)"), ("f(a,\n  b)", "f(a,\n  b)"), ("a + b", "a + b"), ("f(a)\n.g()", "(f(a)\n.g())")],
)
def test_lines_are_joined_by_parentheses_where_none_join_them(text: str, statement: str) -> None:
    assert on_its_own(text) == statement
    ast.parse(f"y = {on_its_own(text)}")


@pytest.mark.parametrize(
    ("text", "comment"),
    [("y = x  # why", "  # why"), ("y = x", ""), ("y = f(\n  x  # inner\n)", ""), ("y = x; z = 1  # why", "")],
)
def test_the_comment_behind_a_statement(text: str, comment: str) -> None:
    assert trailing_comment(*assigned(text)) == comment


def test_new_source_has_tabs_where_the_file_has() -> None:
    new = "if a:\n    b\n    if c:\n        f(d,\n          e)"
    tabs = parse("program.py", "if a:\n\tb\n")
    assert in_style_of(tabs, new) == "if a:\n\tb\n\tif c:\n\t\tf(d,\n\t\t  e)"
    assert in_style_of(parse("program.py", "if a:\n  b\n"), new) == new
    assert in_style_of(parse("program.py", "a\n"), new) == new


def test_tabs_stay_out_of_strings() -> None:
    new = 'if c:\n    f("""\n    a""",\n        b)'
    assert in_style_of(parse("program.py", "if a:\n\tb\n"), new) == 'if c:\n\tf("""\n    a""",\n\t\tb)'


def test_a_call_takes_one_line_per_argument_when_one_line_is_too_short() -> None:
    arguments = ["a" * 40, "b" * 40]
    assert call("f", arguments, "y = ") == f"f({arguments[0]}, {arguments[1]})"
    split = f"f(\n    {arguments[0]},\n    {arguments[1]},\n)"
    assert call("f", arguments, "y = ", indentation=12) == split
    assert call("f", ["a(\n    b\n)", "c"]) == "f(\n    a(\n        b\n    ),\n    c,\n)"


@pytest.mark.parametrize("prefix", ["", "f", "rb"])
def test_lines_move_but_for_those_that_begin_in_a_string(prefix: str) -> None:
    string = f'{prefix}"""a\n  b\n"""'
    assert reindented(f"f({string},\n    x,\n\n    y)", "    ", "  ") == f"  f({string},\n  x,\n\n  y)"
    assert reindented(f"y = g({string},\n  x)  # why", "", "    ") == f"    y = g({string},\n      x)  # why"
    assert call("f", [string, "x"]) == f"f(\n    {string},\n    x,\n)"


def test_a_string_inside_an_f_string_ends_before_it() -> None:
    string = 'f"""{g(\'a\')}\n  b"""'
    assert reindented(f"f({string},\nx)", "", "    ") == f"    f({string},\n    x)"


def test_a_string_that_goes_on_behind_a_backslash_stays() -> None:
    assert reindented("f('a\\\n  b',\n  x)", "", "    ") == "    f('a\\\n  b',\n      x)"


def test_an_unused_name_counts_up() -> None:
    assert unused_name("x", frozenset()) == "x"
    assert unused_name("x", frozenset({"x", "x_2"})) == "x_3"


def test_what_is_rendered_means_what_was_written() -> None:
    text = textwrap.dedent("""
        def g():
            y = (
                f(x)
                    + '''a
            b'''
            )
    """)
    _, value = assigned(text)
    new = rendered(text)
    assert new is not None
    assert ast.dump(ast.parse(on_its_own(new), mode="eval").body) == ast.dump(value)
