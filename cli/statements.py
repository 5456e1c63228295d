"""How far the statements of a file reach: Python names the first line of a call alone when something happens in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache


@lru_cache(maxsize=256)
def last_lines(text: str) -> Mapping[int, int]:
    """For the first line of each statement its last one, of a compound statement that of its header.

    Empty for what is not Python.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = (body[0].lineno - 1 if body else node.end_lineno) or node.lineno
            found[node.lineno] = max(found.get(node.lineno, 0), last, node.lineno)
    return found
