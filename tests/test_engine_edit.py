from __future__ import annotations

import ast
import sys
from collections.abc import Callable

import pytest
from replacing import edited, fix, span_of

from gbfix.engine.deep import with_deep_stack
from gbfix.engine.edit import EditError, apply_fixes, apply_one
from gbfix.engine.model import Fix, GbfixError, Replacement, SourceError, Span

PROGRAM = '''"""A module."""

import math


def choose(x):
    über = [1,  2] # odd  spacing
    # why
    if x.sum() > 0:  # positive
        y = x + 1
    else:
        y = x - 1
    text = """kept
    as it is"""
    return y , math.pi   # end
'''
OLD = "    if x.sum() > 0:  # positive\n        y = x + 1\n    else:\n        y = x - 1\n"
NEW = "    # positive\n    y = torch.where(\n        x.sum() > 0, x + 1, x - 1\n    )\n"
SOURCE = "y = torch.where(\n    x.sum() > 0, x + 1, x - 1\n)"
AFTER = PROGRAM.replace(OLD, NEW).replace("import math\n", "import math\nimport torch\n")

VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace("    ", "\t"),
    "tabs and crlf": lambda text: text.replace("    ", "\t").replace("\n", "\r\n"),
    "two spaces": lambda text: text.replace("    ", "  "),
    "no final newline": lambda text: text.removesuffix("\n"),
    "form feed": lambda text: text.replace("\n\n\n", "\n\x0c\n\n"),
    "trailing blank lines": lambda text: text + "\n  \n\n",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_layout_gets_the_edit_in_its_own_style_and_keeps_all_other_bytes(variant: str) -> None:
    change = VARIANTS[variant]
    before, expected = change(PROGRAM), change(AFTER)
    if "tabs" in variant or "spaces" in variant:
        # Inside parentheses the new source's own layout stays.
        expected = expected.replace(change("        x.sum()"), change("    ") + "    x.sum()")
    old = change(OLD).strip()
    after = apply_fixes(before, [Fix("", (Replacement(span_of(before, old), SOURCE),), ("torch",))])
    assert after.encode() == expected.encode()
    head, tail = before.encode().split(old.encode())
    assert (
        after.encode().replace(b"import torch\r\n" if "crlf" in variant else b"import torch\n", b"", 1).startswith(head)
    )
    assert after.encode().endswith(tail)


def test_no_fix_changes_nothing_and_needs_no_parsing() -> None:
    assert apply_fixes("this is ( not python", []) == "this is ( not python"


def test_the_last_statement_of_a_file_without_final_newline() -> None:
    assert edited("if a:\n    b\nelse:\n    c", ("if a:\n    b\nelse:\n    c", "x")) == "x"
    assert edited("if a:\n    b # 1", ("b", "x\ny")) == "if a:\n    # 1\n    x\n    y"


def test_comments_of_an_expression_go_above_its_statement() -> None:
    text = (
        "def f(\n    a,\n):\n    # 0\n    return g(\n        a  # 1\n        if t  # 2\n        else b,  # 3\n    )\n"
    )
    old = "a  # 1\n        if t  # 2\n        else b"
    after = "def f(\n    a,\n):\n    # 0\n    # 1\n    # 2\n    return g(\n        w(t, a, b),  # 3\n    )\n"
    assert edited(text, (old, "w(t, a, b)")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("if s:\n    p\nelif (a  # 1\n      if t else b):\n    q\n", "if s:\n    p\n# 1\nelif (x):\n    q\n"),
        ("if s: y = (a  # 1\n      if t else b)\n", "# 1\nif s: y = (x)\n"),
        ("@d(a  # 1\n      if t else b)\ndef f(): pass\n", "# 1\n@d(x)\ndef f(): pass\n"),
        ("@d\ndef f(y=(a  # 1\n      if t else b)): pass\n", "# 1\n@d\ndef f(y=(x)): pass\n"),
        ("p; y = (a  # 1\n      if t else b); q  # 2\n", "# 1\np; y = (x); q  # 2\n"),
    ],
)
def test_comments_of_an_expression_in_other_places(text: str, after: str) -> None:
    assert edited(text, ("a  # 1\n      if t else b", "x")) == after


def test_comments_of_own_parentheses_are_kept() -> None:
    assert edited("y = (  # 1\n    a\n    # 2\n)\n", ("(  # 1\n    a\n    # 2\n)", "x")) == "# 1\n# 2\ny = x\n"


def test_an_import_is_added_once_for_several_fixes() -> None:
    text = "a\nb\n"
    fixes = [fix(text, ("a", "x"), imports=("torch",)), fix(text, ("b", "y"), imports=("torch",))]
    assert apply_fixes(text, fixes) == "import torch\n\nx\ny\n"


def test_an_import_that_the_edit_removes_is_put_back_when_needed() -> None:
    assert edited("import torch\nx\n", ("import torch", ""), imports=("torch",)) == "import torch\n\nx\n"


@pytest.mark.parametrize("text", ["\x0cif a:\n    b\n", "\ufeffa\n", "a\n\n\x0cb\n"])
def test_a_file_that_would_change_elsewhere_is_a_source_error_with_the_line(text: str) -> None:
    with pytest.raises(SourceError, match=r"line [13]: has characters"):
        apply_fixes(text, [Fix("", (Replacement(Span(1, 0, 1, 1), "x"),))])


def test_lone_carriage_returns_are_kept_or_refused() -> None:
    with pytest.raises(SourceError):
        edited("a\rb\rc\r", ("b", "x"))
    assert edited("a\nb = '''1\r2'''\nc\n", ("c", "x")) == "a\nb = '''1\r2'''\nx\n"


def test_text_that_is_not_python_is_a_source_error() -> None:
    with pytest.raises(SourceError, match="line 2: cannot be parsed"):
        apply_fixes("a\nif:\n", [Fix("", (Replacement(Span(1, 0, 1, 1), "x"),))])


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("x = a\n", "x", "f()"),
        ("for x in y: pass\n", "x", "a if b else c"),
        ("def f():\n    a\n    x = 1\n", "x = 1", "nonlocal_ = 1\nreturn = 2"),
        ("import os\n", "os", "f()"),
        ("with a as x: pass\n", "x", "1"),
    ],
)
def test_a_result_that_is_not_python_is_an_edit_error(text: str, old: str, new: str) -> None:
    with pytest.raises(EditError):
        edited(text, (old, new))
    assert issubclass(EditError, GbfixError)


DEEP = {
    "500 unary operators": ("x = " + "-" * 500 + "a\n", "a", "b"),
    "500 ternaries": ("x = " + "a if c else " * 500 + "z\n", "z", "b"),
    "400 elifs": ("if a: p\n" + "elif b: q\n" * 400 + "else: z\n", "z", "y1\ny2"),
    "a sum of 500 terms": ("x = " + "a + " * 499 + "z\n", "z", "b"),
    "500 strings": ("x = (" + "'a'\n" * 500 + ", z)\n", "z", "b"),
    "200 chained calls": ("x = a" + ".f(1)" * 199 + ".f(z)\n", "z", "b"),
    "90 nested calls": ("x = " + "f(" * 90 + "z" + ")" * 90 + "\n", "z", "b"),
    "60 nested blocks": ("".join("    " * n + "if a:\n" for n in range(60)) + "    " * 60 + "z\n", "z", "b"),
}


@pytest.mark.parametrize("case", DEEP)
def test_deep_source_is_edited(case: str) -> None:
    text, old, new = DEEP[case]
    expected = text.replace(old, new) if "\n" not in new else text.replace("else: z", "else:\n    y1\n    y2")
    assert edited(text, (old, new)) == expected


def test_source_too_deep_even_for_the_deep_stack_is_a_source_error() -> None:
    text = "x = " + "-" * 1_000 + "a\n"

    def work() -> str:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(900)
        try:
            return edited(text, ("a", "b"))
        finally:
            sys.setrecursionlimit(limit)

    with pytest.raises(SourceError, match="nested too deeply"):
        with_deep_stack(work)


def test_warnings_about_the_users_own_strings_are_not_shown(recwarn: pytest.WarningsRecorder) -> None:
    edited("a = '\\d'\nb\n", ("b", "x"))
    assert not recwarn.list


def test_a_second_edit_of_the_result_is_possible() -> None:
    once = edited(PROGRAM, (OLD.strip(), SOURCE), imports=("torch",))
    assert edited(once, (SOURCE.replace("\n", "\n    "), "y = x"), imports=("torch",)).count("import torch") == 1
    ast.parse(once)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_fix_gives_the_same_as_many(end: str) -> None:
    text = "import os\n\n\n@skip\ndef f(x):\n\ty = 1  # one\n\treturn y\n\n\nclass K:\n\tz = 2; w = 3\n"
    text = text.replace("\n", end)
    for old, new in (("y = 1", "y = 7"), ("z = 2", "z = 8")):
        line = next(number for number, row in enumerate(text.split(end), 1) if old in row)
        column = text.split(end)[line - 1].index(old)
        fix = Fix("", (Replacement(Span(line, column, line, column + len(old)), new),))
        assert apply_one(text, fix) == apply_fixes(text, [fix])
        assert new in apply_one(text, fix)


def test_one_fix_on_a_shared_line_or_with_an_import_is_made_in_the_whole_file() -> None:
    text = "a = 1; b = 2\nc = 3\n"
    shared = Fix("", (Replacement(Span(1, 0, 1, 5), "a = 9"),))
    assert apply_one(text, shared) == "a = 9; b = 2\nc = 3\n"
    imported = Fix("", (Replacement(Span(2, 0, 2, 5), "c = torch"),), ("torch",))
    assert "import torch" in apply_one(text, imported)
