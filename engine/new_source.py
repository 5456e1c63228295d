"""The new source of an edit as syntax tree nodes, in the style of the file they go into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst

from gbfix.engine.dataclass import dataclass
from gbfix.engine.edit_error import EditError


@dataclass(frozen=True, eq=False)
class NewStatements:
    """Parsed statements, and the comment lines after the last one."""

    body: tuple[cst.BaseStatement, ...]
    footer: tuple[cst.EmptyLine, ...]

    @property
    def nodes(self) -> tuple[cst.CSTNode, ...]:
        """Everything, in source order."""
        return (*self.body, *self.footer)


def parse_statements(source: str, module: cst.Module, indent: str | None) -> NewStatements:
    """Parse statements for a place in `module` whose blocks are indented by `indent` (None: as the module does).

    Raises EditError when they are not statements.
    """
    # Line ends inside strings are part of the file's style too, since Python reads them as "\n".
    text = source.replace("\n", module.default_newline)
    with _invalid_source_is_edit_error(source):
        parsed = cst.parse_module(text, config=module.config_for_parsing)
    if parsed.code != text:
        raise EditError(f"the new source cannot be kept byte for byte: {source!r}")
    styled = parsed.visit(_Restyle(indent))
    if not styled.body:
        return NewStatements((), (*styled.header, *styled.footer))
    first, *others = styled.body
    first = first.with_changes(leading_lines=(*styled.header, *first.leading_lines))
    return NewStatements((first, *others), tuple(styled.footer))


def parse_expression(source: str, module: cst.Module) -> cst.BaseExpression:
    """Parse an expression; one that cannot stand alone, such as one over several lines, comes in parentheses.

    Raises EditError when it is none.
    """
    if not source.strip():
        raise EditError("an expression cannot be deleted")
    text = source.replace("\n", module.default_newline)
    try:
        parsed = cst.parse_expression(text, config=module.config_for_parsing)
    except cst.ParserSyntaxError:
        text = f"({text})"
        with _invalid_source_is_edit_error(source):
            parsed = cst.parse_expression(text, config=module.config_for_parsing)
    if module.code_for_node(parsed) != text or isinstance(parsed, cst.StarredElement):
        raise EditError(f"the new source is not an expression: {source!r}")
    styled = parsed.visit(_Restyle(None))
    assert isinstance(styled, cst.BaseExpression)  # the restyling replaces no expression
    return styled


@contextmanager
def _invalid_source_is_edit_error(source: str) -> Iterator[None]:
    try:
        yield
    except cst.ParserSyntaxError as error:
        raise EditError(f"the new source is not valid Python: {source!r}") from error


class _Restyle(cst.CSTTransformer):
    """Takes the indentation of the surroundings, and leaves blank lines empty."""

    def __init__(self, indent: str | None) -> None:
        super().__init__()
        self._indent = indent

    def leave_IndentedBlock(self, _: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.BaseSuite:
        return updated_node.with_changes(indent=self._indent)

    def leave_EmptyLine(self, _: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        if updated_node.comment is not None:
            return updated_node
        return updated_node.with_changes(indent=False, whitespace=cst.SimpleWhitespace(""))
