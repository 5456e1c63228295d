"""torch.compile called again and again, in a loop or at every call of a function.

Each `torch.compile(f)(x)` wraps the function anew: about 0.1 ms a call instead of 0.01 ms, before anything is
computed. The code is compiled once as long as it is the same function; a module that is made anew each time is
compiled for every instance, until Dynamo gives up after eight.

    # Before                                 # After
    def serve(request):                      compiled = torch.compile(model)
        return torch.compile(model)(request)
                                             def serve(request):
                                                 return compiled(request)

Reports the place, and changes nothing: when the module is loaded, what is compiled may not exist yet, or be another
object than at the time of the call.

Source: torch.compile; recompilation limits (GB0039).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF413", "compile-per-call")


def find(view: FileView) -> Iterator[Finding]:
    """The calls of one file that compile and call at once, within a function or a loop, and compiling in loops."""
    for node in ast.walk(view.source.tree):
        if not isinstance(node, ast.Call) or view.names.qualified(node.func) != "torch.compile" or not node.args:
            continue
        place = _repeated(view, node)
        if place is None:
            continue
        given = " ".join(view.source.segment(node.args[0]).split())
        why = RefusedError(
            "it is compiled once",
            f"torch.compile({given}) runs {place}",
            node.lineno,
            "compile once, before the loop or where the function or module is made, and call the result; for one of "
            "several, keep the results in a dictionary",
        )
        function = view.source.enclosing_function(node)
        where = ("<module>" if function is None else function.qualname, "outside of compiled code")
        message = f"torch.compile({given}) {place}"
        yield Finding(*NAME, view.source.span(node), message, *where, (why.obligation,), advice=why.advice)


def _repeated(view: FileView, node: ast.Call) -> str | None:
    """Where a result is called at once, "in a loop" or "at every call of f"; None for one that is kept."""
    parent = view.source.parents[node]
    called = isinstance(parent, ast.Call) and parent.func is node
    if not called:
        return None
    for around in view.source.ancestors(node):
        if isinstance(around, ast.For | ast.AsyncFor | ast.While):
            return "at every round of a loop"
        if isinstance(around, FunctionNode):
            return f"at every call of {getattr(around, 'name', 'a lambda')}"
    return None


RULE = Rule(*NAME, "torch.compile called at every call or round of a loop", __doc__, find)
