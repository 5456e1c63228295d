from __future__ import annotations

import ast

import pytest
from replacing import edited, fix

from gbfix.engine.edit import EditError, apply_fixes


def check(before: str, after: str, *pairs: tuple[str, str]) -> None:
    ast.parse(before)
    assert edited(before, *pairs) == after


IF = "if v:\n    z = 1\nelse:\n    z = 2"
WHERE = "z = torch.where(v, 1, 2)"


def test_lines_above_stay_and_what_follows_is_untouched() -> None:
    check(f"a\n\n# above\n{IF}\n\n\n# below\nb\n", f"a\n\n# above\n{WHERE}\n\n\n# below\nb\n", (IF, WHERE))


def test_lines_above_the_first_statement_of_the_module_and_of_a_block_stay() -> None:
    check(f"# top\n{IF}\n", f"# top\n{WHERE}\n", (IF, WHERE))
    check("def f():\n\n    # top\n    a\n", "def f():\n\n    # top\n    b\n", ("a", "b"))


def test_new_compound_statements_are_indented() -> None:
    new = "if s:\n    z = 1\nelse:\n    z = 2\n\nw"
    check(
        "def f():\n    if a:\n        x\n    y\n",
        "def f():\n    if a:\n        if s:\n            z = 1\n        else:\n            z = 2\n\n        w\n    y\n",
        ("x", new),
    )


def test_the_indentation_of_the_surrounding_block_is_taken() -> None:
    check(
        "def f():\n    a\ndef g():\n  x\n",
        "def f():\n    a\ndef g():\n  if s:\n    y\n",
        ("x", "if s:\n        y"),
    )


def test_multi_line_strings_are_not_indented() -> None:
    check("def f():\n    x\n", 'def f():\n    y = """a\nb"""\n', ("x", 'y = """a\nb"""'))


class TestComments:
    def test_they_go_above_the_new_statements_in_order(self) -> None:
        old = "if v:  # 1\n        # 2\n        z = (  # 3\n            1\n        )\n    else:  # 4\n        z = 2"
        check(
            f"def f():\n    # 0\n    {old}  # 5\n    # 6\n    b\n",
            f"def f():\n    # 0\n    # 1\n    # 2\n    # 3\n    # 4\n    # 5\n    {WHERE}\n    # 6\n    b\n",
            (old, WHERE),
        )

    def test_repeated_ones_are_not_doubled(self) -> None:
        old = "if v:  # a\n    z = 1  # b\nelse:  # a\n    z = 2"
        check(f"{old}  # c\n", f"# b\n# a\n# a\n{WHERE}  # c\n", (old, f"# a\n{WHERE}  # c"))

    def test_of_the_last_line_of_a_single_statement(self) -> None:
        check("a\nz = x  # why\nb\n", "a\n# why\nz = y\nb\n", ("z = x", "z = y"))

    def test_below_the_last_statement_of_an_arm(self) -> None:
        check(f"{IF}\n    # last\n\nb\n", f"# last\n{WHERE}\n\nb\n", (IF, WHERE))

    def test_between_and_behind_replaced_statements(self) -> None:
        check("a  # 1\n\n# 2\nb  # 3\n# 4\nc\n", "# 1\n# 2\n# 3\nx\n# 4\nc\n", ("a  # 1\n\n# 2\nb", "x"))

    def test_of_the_new_source_stay_where_they_are(self) -> None:
        check("a\nb\nc\n", "a\n# 1\nx  # 2\n\n# 3\ny\n# 4\nc\n", ("b", "# 1\nx  # 2\n\n# 3\ny\n# 4"))

    def test_at_the_end_of_new_source_and_block(self) -> None:
        check("if a:\n    b\nc\n", "if a:\n    x\n    # 1\nc\n", ("b", "x\n# 1"))


class TestDeletion:
    def test_of_a_statement(self) -> None:
        check("a\nb\nc\n", "a\nc\n", ("b", ""))

    def test_lines_above_and_comments_stay(self) -> None:
        check("a\n\n# 1\nb  # 2\n# 3\nc\n", "a\n\n# 1\n# 2\n# 3\nc\n", ("b", ""))
        check("if x:\n    a\n    # 1\n    b  # 2\nc\n", "if x:\n    a\n    # 1\n    # 2\nc\n", ("b", ""))

    def test_an_empty_block_gets_pass(self) -> None:
        check("if x:\n    # 1\n    a  # 2\nb\n", "if x:\n    # 1\n    # 2\n    pass\nb\n", ("a", ""))
        check("if x: a\nb\n", "if x: pass\nb\n", ("a", ""))
        check("if x: a; b\n", "if x: pass\n", ("a; b", ""))
        check("if x: a  # 1\nb\n", "if x: pass  # 1\nb\n", ("a", ""))

    def test_an_empty_module_gets_nothing(self) -> None:
        check("# 1\na  # 2\n# 3\n", "# 1\n# 2\n# 3\n", ("a", ""))

    def test_within_a_line(self) -> None:
        check("a; b; c  # 1\n", "b; c  # 1\n", ("a", ""))
        check("a; b; c  # 1\n", "a; c  # 1\n", ("b", ""))
        check("a; b; c  # 1\n", "a; b  # 1\n", ("c", ""))
        check("# 0\na; b  # 1\nc\n", "# 0\n# 1\nc\n", ("a", ""), ("b", ""))


class TestSmallStatements:
    def test_one_for_one_stays_on_the_line(self) -> None:
        check("a;  b ; c;  # 1\n", "x;  b ; c;  # 1\n", ("a", "x"))
        check("a;  b ; c;  # 1\n", "a;  x ; c;  # 1\n", ("b", "x"))
        check("a;  b ; c;  # 1\n", "a;  b ; x;  # 1\n", ("c", "x"))

    def test_two_edits_on_one_line(self) -> None:
        check("a; b; c\n", "x; b; y\n", ("a", "x"), ("c", "y"))
        check("a; b; c\n", "x\nif s:\n    y\nc\n", ("a", "x"), ("b", "if s:\n    y"))

    def test_several_on_one_line_stay_too(self) -> None:
        check("a; b; c\n", "a; x; y; c\n", ("b", "x; y"))
        check("a; b; c\n", "x; c\n", ("a; b", "x"))

    @pytest.mark.parametrize(
        ("old", "after"),
        [
            ("a", "# 0\nx\ny\nb; c  # 1\nd\n"),
            ("b", "# 0\na\nx\ny\nc  # 1\nd\n"),
            ("c", "# 0\na; b\n# 1\nx\ny\nd\n"),
            ("a; b; c", "# 0\n# 1\nx\ny\nd\n"),
            ("c  # 1\nd", "# 0\na; b\n# 1\nx\ny\n"),
        ],
    )
    def test_the_line_is_taken_apart_for_several_lines(self, old: str, after: str) -> None:
        check("# 0\na; b; c  # 1\nd\n", after, (old, "x\ny"))

    def test_an_edit_from_the_middle_of_a_line_to_the_middle_of_another(self) -> None:
        check("a; b  # 1\n# 2\nc  # 3\nd; e  # 4\n", "a\n# 1\n# 2\n# 3\nx\ne  # 4\n", ("b  # 1\n# 2\nc  # 3\nd", "x"))

    def test_comments_in_parentheses_go_above_the_line(self) -> None:
        check("a; b = (  # 1\n    c\n); d  # 2\n", "# 1\na; x; d  # 2\n", ("b = (  # 1\n    c\n)", "x"))


class TestOneLineSuites:
    def test_one_for_one_stays_a_suite(self) -> None:
        check("if v: z = 1  # 1\nelse: z = 2\n", "if v: z = x  # 1\nelse: z = 2\n", ("z = 1", "z = x"))
        check("def f(): a; b\n", "def f(): a; x\n", ("b", "x"))

    def test_the_whole_compound_statement(self) -> None:
        check("if v: z = x + y\nelse: z = x * y  # 1\n", f"# 1\n{WHERE}\n", ("if v: z = x + y\nelse: z = x * y", WHERE))

    def test_several_new_statements_make_a_block(self) -> None:
        check(
            "while s:\n  if a: y = 1 if t else 2  # 1\n  b\n",
            "while s:\n  if a:\n    # 1\n    p = t\n    y = w(p)\n  b\n",
            ("y = 1 if t else 2", "p = t\ny = w(p)"),
        )

    def test_others_on_the_line_move_into_the_block(self) -> None:
        check(
            "else_ = 1\nif a: b; c; d  # 1\n",
            "else_ = 1\nif a:\n    b\n    if s:\n        x\n    d  # 1\n",
            ("c", "if s:\n    x"),
        )

    def test_a_class_and_an_else(self) -> None:
        check("class A: x = 1\n", "class A:\n    y\n    z\n", ("x = 1", "y\nz"))
        check("for a in b: c\nelse: d\n", "for a in b: c\nelse:\n    y\n    z\n", ("d", "y\nz"))


class TestElif:
    TEXT = "def f():\n    if s:\n        a\n    # 1\n    elif t:  # 2\n        b\n    else:\n        c  # 3\n    d\n"
    OLD = "elif t:  # 2\n        b\n    else:\n        c"

    def test_becomes_an_else(self) -> None:
        after = "def f():\n    if s:\n        a\n    # 1\n    else:\n        # 2\n        # 3\n        x\n    d\n"
        check(self.TEXT, after, (self.OLD, "x"))

    def test_stays_an_elif_for_one_if(self) -> None:
        after = "def f():\n    if s:\n        a\n    # 1\n    # 2\n    # 3\n    elif u:\n        x\n    d\n"
        check(self.TEXT, after, (self.OLD, "if u:\n    x"))

    def test_is_deleted(self) -> None:
        after = "def f():\n    if s:\n        a\n        # 1\n        # 2\n        # 3\n    d\n"
        check(self.TEXT, after, (self.OLD, ""))
        check("if a: b\nelif c: d\ne\n", "if a: b\ne\n", ("elif c: d", ""))
        check("if a: b\nelif c: d  # 1\ne\n", "if a:\n    b\n    # 1\ne\n", ("elif c: d", ""))

    def test_the_last_of_a_chain(self) -> None:
        check("if a: b\nelif c: d\nelif e: f\n", "if a: b\nelif c: d\nelse:\n    x\n", ("elif e: f", "x"))

    def test_the_whole_chain(self) -> None:
        check("if a: b\nelif c: d\nelse: e\nf\n", "x\nf\n", ("if a: b\nelif c: d\nelse: e", "x"))

    def test_with_edits_in_the_other_arms(self) -> None:
        after = edited("if aa: bb\nelif cc: dd\nee\n", ("aa", "a2"), ("bb", "b2"), ("elif cc: dd", "x"), ("ee", "y"))
        assert after == "if a2: b2\nelse:\n    x\ny\n"


def test_edits_in_nested_blocks_and_several_fixes_are_made_in_one_pass() -> None:
    text = "if aa:\n    bb\n    if cc: dd\n    ee; ff\ngg\n"
    fixes = [
        fix(text, ("bb", "x1\nx2"), ("ff", "")),
        fix(text, ("cc", "y")),
        fix(text, ("dd", "z1\nz2")),
        fix(text, ("gg", "")),
    ]
    assert apply_fixes(text, fixes) == "if aa:\n    x1\n    x2\n    if y:\n        z1\n        z2\n    ee\n"


def test_new_source_that_is_no_statement_is_an_edit_error() -> None:
    with pytest.raises(EditError, match="not valid Python"):
        edited("a\n", ("a", "if"))
