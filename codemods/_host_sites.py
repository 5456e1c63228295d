"""Finds the calls in compiled functions that read or change something outside, and reports them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._host_calls import HostCall, Reads, host_call, own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Finding

_PROBES = {
    Reads.DRAW: "random.choice",
    Reads.CLOCK: "time.time",
    Reads.FILES: "open",
}


@dataclass(frozen=True)
class HostSite:
    """A host call in a compiled function, and the statement of the function that holds it."""

    view: FileView
    compiled: CompiledFunction
    call: HostCall
    statement: ast.stmt

    @property
    def text(self) -> str:
        """The call on one line."""
        return shorten(self.view.source.segment(self.call.node))

    def refusal(self, rule: tuple[str, str], message: str, refused: RefusedError) -> Finding:
        """A finding that changes nothing."""
        return Finding(
            *rule,
            self.view.source.span(self.call.node),
            message,
            self.compiled.function.qualname,
            self.compiled.reason,
            (refused.obligation,),
            advice=refused.advice,
        )


def host_sites(view: FileView, kinds: Collection[Reads]) -> Iterator[HostSite]:
    """The host calls of these kinds in the compiled functions of a file, in source order.

    What stands in code that runs only without torch.compile, or in an inner function that is compiled itself, is left
    out.
    """
    for compiled in view.compiled:
        skipped = uncompiled_parts(view, compiled.function.node)
        for node in own_nodes(compiled.function.node):
            if not isinstance(node, ast.Call) or node in skipped:
                continue
            call = host_call(view.names, node)
            if call is None or call.reads not in kinds or _captured(view, call):
                continue
            yield HostSite(view, compiled, call, _statement(view, node))


def _captured(view: FileView, call: HostCall) -> bool:
    probe = "random.random" if call.name == "random.random" else _PROBES.get(call.reads)
    return probe is not None and view.project.torch.captures(probe)


def _statement(view: FileView, node: ast.AST) -> ast.stmt:
    return next(parent for parent in view.source.ancestors(node) if isinstance(parent, ast.stmt))


def uncompiled_parts(view: FileView, function: FunctionNode) -> set[ast.AST]:
    """What stands under `if not torch.compiler.is_compiling()`, or in the else of the positive question."""
    found: set[ast.AST] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.If):
            body = node.body if _asks(view, node.test, negated=True) else []
            body = node.orelse if _asks(view, node.test, negated=False) else body
            found.update(part for statement in body for part in ast.walk(statement))
    return found


def _asks(view: FileView, test: ast.expr, *, negated: bool) -> bool:
    if negated:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(_asks(view, part, negated=True) for part in test.values)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _asks(view, test.operand, negated=False)
        return False
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        rest = [part for part in test.values if not _asks_scripting(view, part)]
        return len(rest) == 1 and _asks(view, rest[0], negated=False)
    name = view.names.qualified(test.func) if isinstance(test, ast.Call) else None
    return (name or "").rpartition(".")[2] in ("is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling")


def _asks_scripting(view: FileView, test: ast.expr) -> bool:
    """True for `not torch.jit.is_scripting()`, which holds wherever Dynamo traces."""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    return isinstance(asked, ast.Call) and view.names.qualified(asked.func) == "torch.jit.is_scripting"
