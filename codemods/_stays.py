"""Findings that change nothing: what ends the graph, why it is left, and the way out."""

from __future__ import annotations

import ast

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding


def report(
    view: FileView, compiled: CompiledFunction, rule: tuple[str, str], node: ast.AST, message: str, why: RefusedError
) -> Finding:
    """A finding at a node of a compiled function."""
    function = compiled.function.qualname
    span = view.source.span(node)
    return Finding(*rule, span, message, function, compiled.reason, (why.obligation,), advice=why.advice)
