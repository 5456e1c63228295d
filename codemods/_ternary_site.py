"""Rewrites a conditional expression on a tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from gbfix.analysis.effects import Effects
from gbfix.analysis.flow import Flow, State, reads_tensor
from gbfix.analysis.tree import names_in
from gbfix.codemods._arms import Arm, ArmReader, Piece
from gbfix.codemods._obligations import Choice
from gbfix.codemods._predicate import Predicate
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import ADVICE, Draft, Site, cond_side
from gbfix.codemods._text import call
from gbfix.codemods._tree import captured_in
from gbfix.engine.model import Span

_KEYWORDS = frozenset(
    {"return", "in", "and", "or", "not", "if", "else", "yield", "await", "is", "assert", "del", "raise"}
)


class TernarySite(Site):
    """A conditional expression."""

    def __init__(self, flow: Flow, node: ast.IfExp, statement: ast.stmt | None, state: State) -> None:
        super().__init__(flow, node, statement, state)
        self.node: ast.IfExp = node

    def where(self) -> tuple[Draft, Span]:
        """The expression as torch.where."""
        self.draft = Draft()
        piece = ternary_piece(self, self.node, self.state, {}, Arm(), self._reader())
        assert piece is not None
        for choice in self.draft.choices:
            repeated = choice.predicate.effects.random and self.draft.selects > len(self.draft.choices)
            if repeated or self.draft.hoist:
                raise RefusedError(
                    "the condition is evaluated once",
                    "it may give something else when it is evaluated later or again",
                    self.node.lineno,
                    "compute the condition in a statement of its own",
                )
        self.draft.lines = [piece.source]
        return self.draft, self._span()

    def _span(self) -> Span:
        """The expression with the parentheses that only group it."""
        span = self.source.span(self.node)
        before = self.source.lines[span.line - 1][: span.column].rstrip()
        after = self.source.lines[span.end_line - 1][span.end_column :]
        if not before.endswith("(") or not after.lstrip().startswith(")"):
            return span
        outside = before[:-1].rstrip()
        if outside and (outside[-1].isalnum() or outside[-1] in "_)]\"'") and outside.split()[-1] not in _KEYWORDS:
            return span  # The parentheses of a call.
        return Span(span.line, len(before) - 1, span.end_line, span.end_column + after.index(")") + 1)

    def cond(self) -> tuple[Draft, Span]:
        """The expression as torch.cond."""
        self.draft = Draft()
        reader = self._reader()
        predicate = _predicate(self, self.node.test, self.state)
        first, second = (reader.piece(side, self.state, {}, Arm()) for side in (self.node.body, self.node.orelse))
        if predicate.inverted:
            first, second = second, first
        choice = Choice(predicate, established=self.state.established, gradients_off=self.state.gradients_off)
        self.draft.choices.insert(0, choice)
        if len(self.draft.choices) > 1:
            raise RefusedError("each side is one expression", "a side holds another branch", self.node.lineno, ADVICE)
        self.select(predicate.source, first, second, choice, "the expression", reader, "")
        self.draft.captured += [n for side in (self.node.body, self.node.orelse) for n in captured_in(side)]
        sides = [cond_side([part], tuple_=False) for part in (first, second)]
        text = call(f"{self.torch}.cond", [predicate.source, *sides], "", reader.width)
        self.draft.lines = [text]
        return self.draft, self._span()

    def _reader(self) -> ArmReader:
        def nested(statement: ast.If, _rest: list[ast.stmt], _arm: Arm, _renames: dict[str, str]) -> None:
            raise AssertionError(f"a statement inside an expression: line {statement.lineno}")

        def ternary(node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm) -> Piece | None:
            return ternary_piece(self, node, state, renames, arm, reader)

        reader = ArmReader(
            self.flow, self.statement or self.node, lambda _: True, self.fresh, nested, ternary, lambda s: s
        )
        return reader


def ternary_piece(
    site: Site, node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm, reader: ArmReader
) -> Piece | None:
    """A conditional expression on a tensor as one piece; None when its test is a Python test."""
    if not reads_tensor(site.flow, state, node.test):
        return None
    if names_in([node.test]) & set(renames):
        raise RefusedError(
            "names can be replaced",
            "a nested condition reads a name that the side sets",
            node.lineno,
            "nest the branch less deeply",
        )
    predicate = _predicate(site, node.test, state)
    choice = Choice(predicate, established=state.established, gradients_off=state.gradients_off)
    site.draft.choices.append(choice)
    first, second = (reader.piece(side, state, renames, arm) for side in (node.body, node.orelse))
    if predicate.inverted:
        first, second = second, first
    piece = site.select(predicate.source, first, second, choice, "the expression", reader, "")
    effects = Effects()
    effects.add(predicate.effects)
    effects.add(piece.effects)
    return replace(piece, effects=effects)


def _predicate(site: Site, test: ast.expr, state: State) -> Predicate:
    """The tensor form of the test, for a place where no statement can stand before it."""
    predicate = site.predicate(test, state, site.statement)
    if predicate.hoisted:
        raise RefusedError("the condition is an expression", "it assigns a name", test.lineno, "assign the name before")
    site.draft.edits += predicate.edits
    return predicate
