"""Finding comments in a syntax tree, and writing them as lines of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import libcst as cst

LineHolder = (
    cst.SimpleStatementLine
    | cst.BaseCompoundStatement
    | cst.Decorator
    | cst.Else
    | cst.ExceptHandler
    | cst.ExceptStarHandler
    | cst.Finally
    | cst.MatchCase
)
"""The nodes that can have comment lines above them."""


def comments_in(nodes: Iterable[cst.CSTNode]) -> list[str]:
    """The texts of all comments in the nodes, in source order."""
    collector = _Collector()
    for node in nodes:
        node.visit(collector)
    return collector.texts


def not_repeated(old: Sequence[str], new: Iterable[str]) -> list[str]:
    """The old comments, less one for each equal new comment."""
    repeated = Counter(new)
    missing = []
    for text in old:
        if repeated[text]:
            repeated[text] -= 1
        else:
            missing.append(text)
    return missing


def comment_lines(texts: Iterable[str]) -> list[cst.EmptyLine]:
    """One line for each comment."""
    return [cst.EmptyLine(comment=cst.Comment(text)) for text in texts]


class _Collector(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def visit_Comment(self, node: cst.Comment) -> None:
        self.texts.append(node.value)
