"""torch.compile called again and again, in a loop or at every call of a function.

Each `torch.compile(f)(x)` wraps the function anew: about 0.1 ms a call instead of 0.01 ms, before anything is
computed. The code is compiled once as long as it is the same function; a module that is made anew each time is
compiled for every instance, until Dynamo gives up after eight.

Before:

    def scaled(x):
        return x * 2.0


    def serve(request):
        return torch.compile(scaled)(request)

After:

    def scaled(x):
        return x * 2.0


    _compiled_scaled = torch.compile(scaled)


    def serve(request):
        return _compiled_scaled(request)

A result that is kept in a local name is found too, where that is done and called within a loop.

Stays away, and says where to compile, when what is compiled is no plain function of the module that nothing gives
another value (a module or lambda may not exist yet when the file is loaded, or be another object at the call), when it
or the import of torch stands below or within something, and when an option is not known to be valid.

Source: torch.compile; recompilation limits (GB0039).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode, evaluated_outside
from gbfix.codemods._hoisted_compile import hoisted
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Discharge, Finding, Obligation, Rule

NAME = ("GBF413", "compile-per-call")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def find(view: FileView) -> Iterator[Finding]:
    """The calls of one file that compile what is called once, within a function or a loop."""
    for node in view.source.nodes:
        if not isinstance(node, ast.Call) or view.names.qualified(node.func) != "torch.compile" or not node.args:
            continue
        place = _repeated(view, node)
        if place is not None:
            yield _finding(view, node, place)


def _finding(view: FileView, node: ast.Call, place: str) -> Finding:
    given = " ".join(view.source.segment(node.args[0]).split())
    function = view.source.enclosing_function(node)
    where = ("<module>" if function is None else function.qualname, "outside of compiled code")
    message = f"torch.compile({given}) {place}"
    span = view.source.span(node)
    try:
        fix, obligation = hoisted(view, node)
    except RefusedError as why:
        reason = f"torch.compile({given}) runs {place}, and {why.obligation.reason}"
        failed = Obligation("it is compiled once", Discharge.VIOLATED, reason, node.lineno)
        return Finding(*NAME, span, message, *where, (failed,), advice=why.advice)
    return Finding(*NAME, span, message, *where, (obligation,), fix)


def _repeated(view: FileView, node: ast.Call) -> str | None:
    """When a result is made anew and called: "at every round of a loop" or "at every call of f"; None for never."""
    parent = view.source.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        if _loop_around(view, node) is not None:
            return "at every round of a loop"
        function = view.source.enclosing_function(node)
        return None if function is None else f"at every call of {function.name or 'a lambda'}"
    loop = _loop_around(view, node)
    if loop is not None and _is_only_called_within(view, parent, loop):
        return "at every round of a loop"
    return None


def _loop_around(view: FileView, node: ast.AST) -> ast.AST | None:
    """The nearest loop or comprehension of the same function that evaluates a node at every round."""
    child = node
    for around in view.source.ancestors(node):
        if isinstance(around, _LOOPS):
            once = [*around.orelse, *([] if isinstance(around, ast.While) else [around.iter])]
            if child not in once:
                return around
        elif isinstance(around, _COMPREHENSIONS) and child is not around.generators[0]:
            return around
        elif isinstance(around, FunctionNode | ast.ClassDef) and not evaluated_outside(around, child):
            return None
        child = around
    return None


def _is_only_called_within(view: FileView, statement: ast.AST, loop: ast.AST) -> bool:
    """True for `name = torch.compile(...)` when the name has no other value, and is called in that loop alone."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            pass
        case _:
            return False
    found = view.names.bindings(name, statement)
    scope = view.names.lookup(name, statement)[0]
    uses = [use for use in view.names.loads.get(name, ()) if view.names.lookup(name, use)[0] is scope]
    inside = set(ast.walk(loop))
    called = all(isinstance(call := view.source.parents[use], ast.Call) and call.func is use for use in uses)
    return len(found) == 1 and found[0].node is target and bool(uses) and called and inside.issuperset(uses)


RULE = Rule(*NAME, "torch.compile called at every call or round of a loop", __doc__, find)
