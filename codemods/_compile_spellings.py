"""Calls that compile something."""

from __future__ import annotations

import ast

from gbfix.analysis.project import FileView


def compile_call(view: FileView, line: int) -> ast.Call | None:
    """The one call of torch.compile, or of `module.compile()`, that stands in a line."""
    source = view.source
    found = [
        node
        for node, _ in view.names.nodes()
        if isinstance(node, ast.Call)
        and source.span(node).line <= line <= source.span(node).end_line
        and (compiles(view, node) or _in_place(node))
    ]
    return found[0] if len(found) == 1 else None


def compiles(view: FileView, node: ast.expr) -> bool:
    """True for torch.compile, with or without arguments."""
    called = node.func if isinstance(node, ast.Call) else node
    return view.names.qualified(called) == "torch.compile"


def _in_place(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and not call.args
