"""A finding about a selection in the making."""

from __future__ import annotations

import ast
from dataclasses import field

from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Obligation, Replacement


@dataclass
class Draft:
    """One place, what becomes of it and what that relies on, or why nothing does.

    used: the readings of names that stand for a selection, with the assignments that define them.
    """

    rule: tuple[str, str]
    node: ast.expr | ast.stmt
    message: str
    replacements: list[Replacement] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    used: dict[ast.Name, ast.Assign] = field(default_factory=dict)
    refused: RefusedError | None = None
