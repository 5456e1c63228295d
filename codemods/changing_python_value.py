"""A Python value that a compiled function is made for, and that another call gives another value.

Compiled code holds for the Python values that it was made with: a text, the number of rounds of a `range`, the length
of a list, a global, an attribute, one particular object. Another one is compiled for itself, and after eight the
function runs in Python. A number as plain argument is the exception: the second value is compiled once more, and all
later ones use that.

    # Before                                 # After
    rounds = 0                               @torch.compile
                                             def step(x, rounds):
    @torch.compile                               return x * rounds
    def step(x):
        return x * rounds

Reports the place, with the values that a recorded run showed (`gbfix trace -- CMD`), and says what helps: an argument,
a tensor, a loop or a decision that moves to the code that calls. It changes nothing, since each of these is another way
to call the function. Without a run it reports only a global number that some function counts up and compiled code
reads.

Says nothing about two values of a flag, about train() and eval(), grad mode and dtypes, which are compiled once each
and kept, nor about a number that a second compilation has already freed. A lambda at one place of the source is one
piece of code, however often it is made, and is not compiled again. Sizes are GBF401's, counters of modules GBF411's.

Source: PyTorch's GB0039 "Dynamo recompile limit exceeded"; torch.compiler recompilation. Each kind was measured with
torch 2.13.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.recompiles import Line, RecompileSeen, function_at
from gbfix.analysis.source import Function
from gbfix.codemods._changing_values import (
    KINDS,
    advice_for,
    is_left_by_a_break,
    is_settled,
    readers,
    rebound_globals,
    seen_text,
)
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods.counter_attribute import counted
from gbfix.engine.model import Finding, Rule
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS

NAME = ("GBF414", "changing-python-value")
CLAIM = "every call can use the same code"


def find(view: FileView) -> Iterator[Finding]:
    """The values that a run compiled the functions of a file again for, and the globals that are sure to change."""
    found = [finding for row in _rows(view) if (finding := _of_row(view, row)) is not None]
    known = {row.source_name for row in _rows(view)}
    for node, stepper, line in rebound_globals(view):
        if node.id not in known:
            reason = f"{stepper} gives {node.id} another value, and each value is compiled"
            advice = (
                f"hand {node.id} to the function as an argument: as a tensor without dimensions it is compiled once"
            )
            function = view.source.enclosing_function(node)
            assert function is not None
            message = f"{function.name} is compiled for each value of the global {node.id}"
            found.append(_finding(view, function, node, message, RefusedError(CLAIM, reason, line, advice)))
    yield from sorted(found, key=lambda finding: finding.span)


def _rows(view: FileView) -> Iterator[RecompileSeen]:
    """What a run compiled again because of a Python value, where the code object is in this file; each value once."""
    seen: set[tuple[Line, str, str]] = set()
    for row in view.project.recompiles.get(view.source.path, ()):
        key = (row.owner or row.at, row.kind, row.source_name)
        if row.kind in KINDS and key not in seen:
            seen.add(key)
            yield row


def _of_row(view: FileView, row: RecompileSeen) -> Finding | None:
    function = function_at(view.source, row.at.line, row.function)
    if function is None or is_settled(row) or is_left_by_a_break(view, function, row):
        return None
    if _is_counter(function, row.source_name):
        return None
    uses = readers(view, function, row)
    node = uses[0] if uses else function.node
    what = RECOMPILE_KINDS[row.kind].name
    message = f"{function.name} is compiled again for {what} of {row.source_name or 'what it reads'}"
    why = RefusedError(CLAIM, seen_text(row), node.lineno, advice_for(view, function, row, uses))
    return _finding(view, function, node, message, why)


def _is_counter(function: Function, name: str) -> bool:
    """True for a number that methods of its module step, which has a rule of its own."""
    receiver, dot, attribute = name.partition(".")
    if function.owner is None or not dot:
        return False
    return any(counted(node, receiver) == attribute for node in ast.walk(function.owner))


def _finding(view: FileView, function: Function, node: ast.AST, message: str, why: RefusedError) -> Finding:
    regions = (c.reason for c in view.compiled if c.function is function)
    region = next(regions, "compiled in the recorded run")
    where = (function.qualname, region)
    span = view.source.span(node)
    return Finding(*NAME, span, message, *where, (why.obligation,), advice=why.advice)


RULE = Rule(*NAME, "a Python value that a compiled function is compiled again for", __doc__, find, rewrites=False)
