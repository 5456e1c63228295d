"""Where observations stand after an edit of the text that they were made of."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gbfix.analysis.observed import Observed


def moved(observed: Mapping[int, Observed], before: str, after: str) -> dict[int, Observed]:
    """The observations at their lines in an edited text: those of the lines above the first change and below the last.

    In between a line may look like another one that was observed, so only functions that stayed as they are keep
    theirs.
    """
    if before == after:
        return dict(observed)
    old, new = before.split("\n"), after.split("\n")
    shorter = min(len(old), len(new))
    above = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    below = next((i for i in range(shorter - above) if old[-1 - i] != new[-1 - i]), shorter - above)
    shift = len(new) - len(old)
    kept = {line: found for line, found in observed.items() if line <= above}
    kept.update({line + shift: found for line, found in observed.items() if line > len(old) - below})
    now = _functions(after)
    for key, lines in _functions(before).items():
        if key in now:
            by = now[key].start - lines.start
            kept.update({line + by: observed[line] for line in lines if line in observed})
    return kept


def _functions(text: str) -> dict[tuple[str, str], range]:
    """The lines of the functions and methods that stand once, by qualified name and text."""
    lines = text.split("\n")
    found: dict[tuple[str, str], range] = {}
    repeated = set()
    pending: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    while pending:
        prefix, node = pending.pop()
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([inner.lineno, *(decorator.lineno for decorator in inner.decorator_list)])
                last = inner.end_lineno or first
                key = (f"{prefix}{inner.name}", "\n".join(lines[first - 1 : last]))
                repeated |= {key} & found.keys()
                found[key] = range(first, last + 1)
            elif isinstance(inner, ast.stmt):
                pending.append((f"{prefix}{inner.name}." if isinstance(inner, ast.ClassDef) else prefix, inner))
    return {key: place for key, place in found.items() if key not in repeated}
