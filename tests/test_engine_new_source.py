from __future__ import annotations

import libcst as cst
import pytest

from gbfix.engine.edit_error import EditError
from gbfix.engine.new_source import parse_expression, parse_statements

TABS_AND_CRLF = cst.parse_module("if a:\r\n\tb\r\n")


def test_statements_take_the_style_of_the_module() -> None:
    new = parse_statements('# top\nif a:\n    b = """1\n2"""\n\n    c\n# end', TABS_AND_CRLF, None)
    text = TABS_AND_CRLF.with_changes(body=new.body, footer=new.footer).code
    assert text == '# top\r\nif a:\r\n\tb = """1\r\n2"""\r\n\r\n\tc\r\n# end\r\n'


def test_blank_lines_get_no_indentation() -> None:
    new = parse_statements("a\n\nb", cst.Module([]), None)
    assert cst.Module([cst.If(cst.Name("x"), cst.IndentedBlock(new.body))]).code == "if x:\n    a\n\n    b\n"


def test_comments_alone_are_no_statements() -> None:
    new = parse_statements("# only", cst.Module([]), None)
    assert new.body == ()
    assert [line.comment.value for line in new.footer if line.comment] == ["# only"]


@pytest.mark.parametrize("source", ["if a:", "  indented", "x = (", "return )"])
def test_what_is_no_statement_is_an_edit_error(source: str) -> None:
    with pytest.raises(EditError, match="not valid Python"):
        parse_statements(source, cst.Module([]), None)


@pytest.mark.parametrize(
    ("source", "code"),
    [("a + b", "a + b"), ("x := 1", "(x := 1)"), ("yield x", "(yield x)"), ("a\n+ b", "(a\r\n+ b)"), ("a, b", "a, b")],
)
def test_expressions_that_cannot_stand_alone_come_in_parentheses(source: str, code: str) -> None:
    assert TABS_AND_CRLF.code_for_node(parse_expression(source, TABS_AND_CRLF)) == code


@pytest.mark.parametrize("source", ["x = 1", "", "a b", "*a", "a  # comment", "a; b"])
def test_what_is_no_expression_is_an_edit_error(source: str) -> None:
    with pytest.raises(EditError):
        parse_expression(source, cst.Module([]))
