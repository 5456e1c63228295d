"""Finding the nodes that replacements stand for.

A span of `ast` starts and ends at tokens, and so do LibCST's positions, but for two things: a def's span
starts at its first decorator, and a statement's span may take in a `;` at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from gbfix.engine.comments import LineHolder
from gbfix.engine.dataclass import dataclass
from gbfix.engine.edit_error import EditError
from gbfix.engine.expressions import Place
from gbfix.engine.lines import split_lines
from gbfix.engine.model import Replacement, Span

Position = tuple[int, int]
Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
"""The nodes that hold statements."""


@dataclass(frozen=True, eq=False)
class Unit:
    """A statement of a block.

    `line` is the number of the element of the block's body, `small` that of a small statement within it.
    """

    node: cst.CSTNode
    line: int
    small: int | None = None


@dataclass(frozen=True, eq=False)
class StatementEdit:
    """New source for the units `first` to `last` of a block."""

    first: int
    last: int
    source: str


@dataclass(frozen=True, eq=False)
class BlockEdits:
    """The edits of one block in source order, and the indentation of blocks inside it (None: the module's)."""

    edits: tuple[StatementEdit, ...]
    indent: str | None


@dataclass(frozen=True, eq=False)
class ExpressionEdit:
    """New source for an expression, its place, and the node above whose lines its comments can go."""

    source: str
    place: Place
    line_holder: LineHolder


@dataclass(frozen=True, eq=False)
class Located:
    """Every edit by the node that it changes. `elifs` has the `if` whose `elif` is replaced."""

    blocks: Mapping[Block, BlockEdits]
    elifs: Mapping[cst.If, BlockEdits]
    expressions: Mapping[cst.BaseExpression, ExpressionEdit]


def locate(wrapper: MetadataWrapper, text: str, replacements: Iterable[Replacement]) -> Located:
    """Find what each replacement replaces.

    Raises EditError when two replacements overlap or one fits neither an expression nor whole statements of a block.
    """
    ordered = sorted(replacements, key=lambda replacement: replacement.span)
    for before, after in pairwise(ordered):
        if before.span.overlaps(after.span):
            raise EditError(f"two edits overlap, at line {before.span.line} and at line {after.span.line}")
    finder = _Finder(wrapper.resolve(PositionProvider), split_lines(text), ordered)
    wrapper.module.visit(finder)
    return finder.located()


@dataclass(eq=False)
class _Found:
    """The edits of one block as they are found, in whatever order."""

    indent: str | None
    edits: list[StatementEdit] = field(default_factory=list)

    def freeze(self) -> BlockEdits:
        return BlockEdits(tuple(sorted(self.edits, key=lambda edit: edit.first)), self.indent)


class _Finder(cst.CSTVisitor):
    """Goes from the outside inwards, so that an expression statement counts as a statement."""

    def __init__(
        self, positions: Mapping[cst.CSTNode, CodeRange], lines: Sequence[str], replacements: Iterable[Replacement]
    ) -> None:
        super().__init__()
        self._positions = positions
        self._lines = lines
        self._waiting = {replacement.span.start: replacement for replacement in replacements}
        self._ancestors: list[cst.CSTNode] = []
        self._blocks: dict[Block, _Found] = {}
        self._elifs: dict[cst.If, _Found] = {}
        self._expressions: dict[cst.BaseExpression, ExpressionEdit] = {}

    def located(self) -> Located:
        for replacement in self._waiting.values():
            line = replacement.span.line
            raise EditError(f"line {line}: the edit covers neither one expression nor whole statements of one block")
        return Located(
            {block: found.freeze() for block, found in self._blocks.items()},
            {node: found.freeze() for node, found in self._elifs.items()},
            self._expressions,
        )

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, Block):
            self._match_statements(node)
        elif isinstance(node, cst.If):
            self._match_elif(node)
        elif isinstance(node, cst.BaseExpression):
            self._match_expression(node)
        self._ancestors.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:  # noqa: ARG002
        self._ancestors.pop()

    def _match_statements(self, block: Block) -> None:
        units = units_of(block)
        for first, unit in enumerate(units):
            for replacement in self._starting_with(unit.node):
                end = self._end_of_statements(replacement.span)
                for last in range(first, len(units)):
                    if self._end(units[last].node) == end:
                        found = self._blocks.setdefault(block, _Found(self._indent_in(block)))
                        found.edits.append(StatementEdit(first, last, replacement.source))
                        del self._waiting[replacement.span.start]

    def _match_elif(self, node: cst.If) -> None:
        if not isinstance(node.orelse, cst.If):
            return
        for replacement in self._starting_with(node.orelse):
            if self._end(node.orelse) == self._end_of_statements(replacement.span):
                edit = StatementEdit(0, 0, replacement.source)
                self._elifs[node] = _Found(self._indent_in(node), [edit])
                del self._waiting[replacement.span.start]

    def _match_expression(self, node: cst.BaseExpression) -> None:
        starts = [self._start(node), *(self._start(left) for left in reversed(node.lpar))]
        ends = [self._end(node), *(self._end(right) for right in node.rpar)]
        for own_parentheses, (start, end) in enumerate(zip(starts, ends, strict=True)):
            replacement = self._waiting.get(start)
            if replacement is not None and replacement.span.end == end:
                self._add_expression(node, replacement, own_parentheses)

    def _add_expression(self, node: cst.BaseExpression, replacement: Replacement, own_parentheses: int) -> None:
        # Before Python 3.12 neither positions nor quotes inside an f-string can be relied on.
        if any(isinstance(ancestor, cst.FormattedStringExpression) for ancestor in self._ancestors):
            raise EditError(f"line {replacement.span.line}: the edit is inside an f-string")
        holder = next(ancestor for ancestor in reversed(self._ancestors) if isinstance(ancestor, LineHolder))
        place = Place(self._ancestors[-1], self._touches_word(replacement.span), own_parentheses)
        self._expressions[node] = ExpressionEdit(replacement.source, place, holder)
        del self._waiting[replacement.span.start]

    def _starting_with(self, node: cst.CSTNode) -> list[Replacement]:
        starts = {self._start(node)}
        if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators:
            # `ast` has no position for the "@", so a span may start at it or at the expression behind it.
            first = node.decorators[0]
            starts = {self._start(first), self._start(first.decorator)}
        return [self._waiting[start] for start in starts if start in self._waiting]

    def _indent_in(self, node: cst.CSTNode) -> str | None:
        around = (node, *reversed(self._ancestors))
        return next((block.indent for block in around if isinstance(block, cst.IndentedBlock)), None)

    def _start(self, node: cst.CSTNode) -> Position:
        start = self._positions[node].start
        return start.line, start.column

    def _end(self, node: cst.CSTNode) -> Position:
        end = self._positions[node].end
        return end.line, end.column

    def _end_of_statements(self, span: Span) -> Position:
        text = self._lines[span.end_line - 1][: span.end_column]
        return span.end_line, len(text.rstrip("; \t\f"))

    def _touches_word(self, span: Span) -> bool:
        before = self._lines[span.line - 1][: span.column][-1:]
        after = self._lines[span.end_line - 1][span.end_column :][:1]
        return any(character.isalnum() or character == "_" for character in before + after)


def units_of(block: Block) -> list[Unit]:
    """The statements of a block in order."""
    if isinstance(block, cst.SimpleStatementSuite):
        return [Unit(small, 0, number) for number, small in enumerate(block.body)]
    units: list[Unit] = []
    for line, statement in enumerate(block.body):
        if isinstance(statement, cst.SimpleStatementLine):
            units.extend(Unit(small, line, number) for number, small in enumerate(statement.body))
        else:
            units.append(Unit(statement, line))
    return units
