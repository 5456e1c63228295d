"""A branch that a random number decides: ask first whether its rate lets it happen at all.

A number that `torch.rand` has drawn is a tensor, so a branch on it ends the graph (GB0170; within a loop it gives up
the whole function), also where the rate is zero and the branch never runs. The rate is a Python number, which Dynamo
knows: asked first, it decides while tracing, and the graph is compiled again should the rate change.

Before:

    for layer in self.layers:
        dropped = torch.rand([])
        if dropped < self.layer_drop:
            continue
        x = layer(x)

After:

    for layer in self.layers:
        dropped = torch.rand([])
        if self.layer_drop > 0.0 and dropped < self.layer_drop:
            continue
        x = layer(x)

The number is drawn as before, so that all later random numbers stay the same. Nothing that `torch.rand` draws is below
zero, so the answer is the same for every rate, zero, negative numbers and NaN included; `dropped >= rate` becomes
`rate <= 0.0 or dropped >= rate`. The comparison may be part of a longer condition: of an `if`, a conditional
expression, `and`, `or`, `not`.

Stays away from rates that were above zero in every observed run, from draws of several elements, names that have other
values, too, or that something may write in place, draws within the condition (they would no longer be made), rates
that are computed there, conditions whose value is kept, and where the rate was asked already. For a rate above zero the
branch ends the graph as it did.

Relies on: the rate is a Python value.

Source: torch.rand, torch.compile troubleshooting (GB0170).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Kind
from gbfix.codemods._draws import is_one_draw
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Rule

CODE, NAME = "GBF112", "branch-by-chance"
SAME = "the answer is the same for every rate"


def find(view: FileView) -> Iterator[Finding]:
    """Every comparison of a drawn number with a rate that decides in a compiled function, in source order."""
    for compiled in view.compiled:
        node = compiled.function.node
        if isinstance(node, ast.Lambda) or "rand" not in view.source.segment(node):
            continue
        flow = flow_of(view, compiled.function)
        for part in _own_parts(node):
            if isinstance(part, ast.Compare) and (finding := _finding(flow, compiled, part)) is not None:
                yield finding


def _finding(flow: Flow, compiled: CompiledFunction, node: ast.Compare) -> Finding | None:
    """The finding for a comparison, None when it is none of a draw, or does not decide, or nothing is gained."""
    view = flow.context.view
    sides = _drawn_and_rate(node)
    statement = next(parent for parent in view.source.ancestors(node) if isinstance(parent, ast.stmt))
    state = flow.before.get(statement)
    if sides is None or state is None or not _decides(view, node):
        return None
    drawn, rate, below = sides
    if not _is_plain(rate) or not is_one_draw(view, drawn) or _is_asked(view, node, rate):
        return None
    if _was_above_zero(view, node.lineno, view.source.segment(rate)):
        return None
    value, evaluation = flow.evaluate(rate, state)
    if value.kind is Kind.TENSOR or not evaluation.effects.pure or evaluation.effects.reads:
        return None
    text = view.source.segment(rate)
    known = value.kind is Kind.NUMBER and value.scalar_of is None and not value.assumed
    reason = "it is a number" if known else "nothing shows what it is"
    first = f"{text} > 0.0 and" if below else f"{text} <= 0.0 or"
    asked = f"{first} {view.source.segment(node)}"
    if isinstance(view.source.parents[node], ast.BoolOp | ast.UnaryOp):
        asked = f"({asked})" if not _in_parentheses(view, node) else asked
    return Finding(
        CODE,
        NAME,
        view.source.span(node),
        f"branch on a random number, {shorten(view.source.segment(node))}",
        compiled.function.qualname,
        compiled.reason,
        (
            Obligation(SAME, Discharge.PROVED, f"{drawn.id} is never below zero, and drawn as before", node.lineno),
            Obligation(
                f"{shorten(text)} is a Python value",
                Discharge.PROVED if known else Discharge.ASSUMED,
                reason,
                node.lineno,
            ),
        ),
        Fix(f"ask {shorten(text)} first", (Replacement(view.source.span(node), asked),)),
    )


def _was_above_zero(view: FileView, line: int, rate: str) -> bool:
    """True when every observed run had a rate for which the branch may happen: there is nothing to gain."""
    observed = view.observed(line)
    specs = [one.values.get(rate) for one in observed.observations] if observed is not None else []
    numbers = [spec.value for spec in specs if spec is not None and spec.kind in ("int", "float")]
    try:
        return bool(numbers) and len(numbers) == len(specs) and all(float(number) > 0 for number in numbers)
    except ValueError:
        return False


def _own_parts(node: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function in source order, without those of functions and classes inside it."""
    pending: list[ast.AST] = list(reversed(list(ast.iter_child_nodes(node))))
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, FunctionNode | ast.ClassDef):
            pending.extend(reversed(list(ast.iter_child_nodes(part))))


def _drawn_and_rate(node: ast.Compare) -> tuple[ast.Name, ast.expr, bool] | None:
    """The drawn number, the rate, and whether the number must be below it; None for other comparisons."""
    match node:
        case ast.Compare(left=ast.Name() as drawn, ops=[ast.Lt()], comparators=[rate]):
            return drawn, rate, True
        case ast.Compare(left=ast.Name() as drawn, ops=[ast.GtE()], comparators=[rate]):
            return drawn, rate, False
        case ast.Compare(left=rate, ops=[ast.Gt()], comparators=[ast.Name() as drawn]):
            return drawn, rate, True
        case ast.Compare(left=rate, ops=[ast.LtE()], comparators=[ast.Name() as drawn]):
            return drawn, rate, False
        case _:
            return None


def _is_plain(rate: ast.expr) -> bool:
    """True for a name or a chain of attributes, which can be asked twice."""
    while isinstance(rate, ast.Attribute):
        rate = rate.value
    return isinstance(rate, ast.Name)


def _decides(view: FileView, node: ast.expr) -> bool:
    """True where only the truth of an expression matters."""
    child: ast.AST = node
    for parent in view.source.ancestors(node):
        match parent:
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                child = parent
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                return test is child
            case _:
                return isinstance(child, ast.UnaryOp)
    return False


def _is_asked(view: FileView, node: ast.Compare, rate: ast.expr) -> bool:
    """True where a condition before it compares the rate already, so that nothing would be gained."""
    wanted = ast.dump(rate)
    child: ast.AST = node
    for parent in view.source.ancestors(node):
        asked: list[ast.expr] = []
        if isinstance(parent, ast.BoolOp):
            asked = parent.values[: parent.values.index(child)]  # type: ignore[arg-type]
        elif isinstance(parent, ast.If | ast.While | ast.IfExp) and child is not parent.test:
            asked = [parent.test]
        elif isinstance(parent, FunctionNode):
            return False
        for test in asked:
            compared = [part for part in ast.walk(test) if isinstance(part, ast.Compare)]
            sides = [ast.dump(side) for part in compared for side in (part.left, *part.comparators)]
            if wanted in sides or wanted in map(ast.dump, [test, *getattr(test, "values", [])]):
                return True
        child = parent
    return False


def _in_parentheses(view: FileView, node: ast.expr) -> bool:
    span = view.source.span(node)
    lines = view.source.lines
    before, after = lines[span.line - 1][: span.column].rstrip(), lines[span.end_line - 1][span.end_column :].lstrip()
    return before.endswith("(") and after.startswith(")")


RULE = Rule(CODE, NAME, "a branch on a random number", __doc__, find)
