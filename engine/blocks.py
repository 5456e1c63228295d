"""Putting new statements into a block in place of old ones.

Lines above the first replaced statement stay above. Comments of the replaced statements that the new ones do not
repeat become lines above the new ones. A line of several small statements is only taken apart when the new
source does not fit on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from gbfix.engine.comments import comment_lines, comments_in, not_repeated
from gbfix.engine.locate import Block, BlockEdits, Unit, units_of
from gbfix.engine.new_source import NewStatements, parse_statements


def rebuilt_block(block: Block, edits: BlockEdits, module: cst.Module) -> Block | cst.IndentedBlock:
    """The block with its edits made; a one-line suite stays one when the new source allows.

    Raises EditError for new source that is not statements.
    """
    if isinstance(block, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(block.body, trailing_whitespace=block.trailing_whitespace)
        builder = _Builder([line], edits.indent, module, takes_whole_lines=False)
        return _suite(block, *builder.build(block, edits), edits.indent)
    builder = _Builder(block.body, edits.indent, module, takes_whole_lines=True)
    statements, below = builder.build(block, edits)
    if not statements and isinstance(block, cst.IndentedBlock):
        statements, below = [_pass(below)], []
    return block.with_changes(body=statements, footer=(*below, *block.footer))


def rebuilt_elif(node: cst.If, edits: BlockEdits, module: cst.Module) -> cst.If:
    """The `if` with another `elif`, or with an `else`, or with neither, in place of its `elif`.

    Raises EditError for new source that is not statements.
    """
    old = node.orelse
    assert isinstance(old, cst.If)  # locate() lists no others
    new = parse_statements(edits.edits[0].source, module, edits.indent)
    comments = _comments_to_keep([old.with_changes(leading_lines=())], new)
    if not new.body:
        below = [*old.leading_lines, *comments, *new.footer]
        return node.with_changes(orelse=None, body=_with_comments_below(node.body, below, edits.indent))
    first, *others = new.body
    if isinstance(first, cst.If) and not others and not new.footer:
        return node.with_changes(orelse=_with_lines_above(first, [*old.leading_lines, *comments]))
    body = [_with_lines_above(first, comments), *others]
    block = cst.IndentedBlock(body, footer=new.footer, indent=edits.indent)
    return node.with_changes(orelse=cst.Else(block, leading_lines=old.leading_lines))


class _Builder:
    """Goes through the statements of a block once, and collects those of the new block."""

    def __init__(
        self, lines: Sequence[cst.BaseStatement], indent: str | None, module: cst.Module, *, takes_whole_lines: bool
    ) -> None:
        self._lines = lines
        self._indent = indent
        self._module = module
        self._takes_whole_lines = takes_whole_lines
        self._statements: list[cst.BaseStatement] = []
        self._above: list[cst.EmptyLine] = []  # for the next statement
        self._open: Unit | None = None  # the last unit that went into the line of small statements being collected
        self._smalls: list[cst.BaseSmallStatement] = []
        self._keeps_last_semicolon = False

    def build(self, block: Block, edits: BlockEdits) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
        """The new statements, and the lines that are left below the last one."""
        units = units_of(block)
        edit_at = {edit.first: edit for edit in edits.edits}
        index = 0
        while index < len(units):
            edit = edit_at.get(index)
            if edit is None:
                self._keep(units[index])
                index += 1
            else:
                self._replace(units[edit.first : edit.last + 1], edit.source)
                index = edit.last + 1
        self._close_line()
        return self._statements, self._above

    def _keep(self, unit: Unit) -> None:
        if isinstance(unit.node, cst.BaseSmallStatement):
            self._put_on_line([unit], [unit.node])
        else:
            self._close_line()
            self._add(self._lines[unit.line])

    def _replace(self, units: Sequence[Unit], source: str) -> None:
        new = parse_statements(source, self._module, self._indent)
        smalls = self._fitting_on_line(units, new)
        if smalls is not None:
            comments = _comments_to_keep([unit.node for unit in units], new)
            self._put_on_line(units, smalls)
            self._above.extend(comments)
            return
        self._close_line()
        if units[0].small in (None, 0):
            self._above.extend(_leading_lines(self._lines[units[0].line]))
        self._above.extend(_comments_to_keep(self._replaced_nodes(units), new))
        for statement in new.body:
            self._add(statement)
        self._above.extend(new.footer)

    def _fitting_on_line(self, units: Sequence[Unit], new: NewStatements) -> Sequence[cst.BaseSmallStatement] | None:
        """The small statements of the new source when they can stand on the line of the old ones, with its rest."""
        first, last = units[0], units[-1]
        if first.small is None or first.line != last.line or new.footer:
            return None
        if self._takes_whole_lines and first.small == 0 and self._ends_line(last):
            return None
        if not new.body:
            return ()
        line = new.body[0]
        if len(new.body) > 1 or not isinstance(line, cst.SimpleStatementLine):
            return None
        return None if line.leading_lines or line.trailing_whitespace.comment else line.body

    def _replaced_nodes(self, units: Sequence[Unit]) -> list[cst.CSTNode]:
        """What goes with the units, but for the lines above the first one."""
        nodes: list[cst.CSTNode] = []
        for unit in units:
            if unit is not units[0] and unit.small in (None, 0):
                nodes.extend(_leading_lines(self._lines[unit.line]))
            nodes.append(unit.node.with_changes(leading_lines=()) if unit.small is None else unit.node)
            if self._ends_line(unit):
                nodes.append(self._line(unit).trailing_whitespace)
        return nodes

    def _put_on_line(self, units: Sequence[Unit], smalls: Sequence[cst.BaseSmallStatement]) -> None:
        first, last = units[0], units[-1]
        if self._open is None or self._open.line != first.line:
            self._close_line()
        if first.small == 0:
            self._above.extend(self._line(first).leading_lines)
        self._open = last
        if smalls:
            old = last.node
            assert isinstance(old, cst.BaseSmallStatement)
            self._smalls.extend(smalls[:-1])
            self._smalls.append(smalls[-1].with_changes(semicolon=old.semicolon))
        self._keeps_last_semicolon = bool(smalls) and self._ends_line(last)

    def _close_line(self) -> None:
        if self._open is None:
            return
        line, at_end = self._line(self._open), self._ends_line(self._open)
        if not self._smalls and not self._takes_whole_lines:
            self._smalls = [cst.Pass()]
        if self._smalls:
            if not self._keeps_last_semicolon:
                self._smalls[-1] = self._smalls[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            trailing = line.trailing_whitespace if at_end else cst.TrailingWhitespace()
            self._add(line.with_changes(body=self._smalls, leading_lines=(), trailing_whitespace=trailing))
        elif at_end:
            self._above.extend(comment_lines(comments_in([line.trailing_whitespace])))
        self._smalls = []
        self._open = None

    def _add(self, statement: cst.BaseStatement) -> None:
        self._statements.append(_with_lines_above(statement, self._above))
        self._above = []

    def _line(self, unit: Unit) -> cst.SimpleStatementLine:
        line = self._lines[unit.line]
        assert isinstance(line, cst.SimpleStatementLine)  # asked of small statements only
        return line

    def _ends_line(self, unit: Unit) -> bool:
        return unit.small is not None and unit.small == len(self._line(unit).body) - 1


def _comments_to_keep(old: Sequence[cst.CSTNode], new: NewStatements) -> list[cst.EmptyLine]:
    return comment_lines(not_repeated(comments_in(old), comments_in(new.nodes)))


def _suite(
    old: cst.SimpleStatementSuite,
    statements: Sequence[cst.BaseStatement],
    below: Sequence[cst.EmptyLine],
    indent: str | None,
) -> cst.SimpleStatementSuite | cst.IndentedBlock:
    if not statements:
        return cst.IndentedBlock([_pass(below)], indent=indent)
    line = statements[0]
    if len(statements) == 1 and not below and isinstance(line, cst.SimpleStatementLine) and not line.leading_lines:
        return old.with_changes(body=line.body, trailing_whitespace=line.trailing_whitespace)
    return cst.IndentedBlock(statements, footer=below, indent=indent)


def _with_comments_below(body: cst.BaseSuite, lines: Sequence[cst.EmptyLine], indent: str | None) -> cst.BaseSuite:
    if not comments_in(lines):
        return body
    if isinstance(body, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(body.body, trailing_whitespace=body.trailing_whitespace)
        return cst.IndentedBlock([line], footer=lines, indent=indent)
    assert isinstance(body, cst.IndentedBlock)  # the only other suite
    return body.with_changes(footer=(*body.footer, *lines))


def _with_lines_above(statement: cst.BaseStatement, lines: Sequence[cst.EmptyLine]) -> cst.BaseStatement:
    return statement.with_changes(leading_lines=(*lines, *_leading_lines(statement)))


def _leading_lines(statement: cst.BaseStatement) -> Sequence[cst.EmptyLine]:
    assert isinstance(statement, cst.SimpleStatementLine | cst.BaseCompoundStatement)
    return statement.leading_lines


def _pass(lines_above: Sequence[cst.EmptyLine]) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Pass()], leading_lines=lines_above)
