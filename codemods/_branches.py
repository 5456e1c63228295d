"""Finds the branches of a file that read a tensor, and decides what becomes of each.

The rules of the control-flow family share this reading; each takes the findings of its own code.
Order of preference for one branch: keep the Python half of its condition a Python `if`; select with
`torch.where`; run one side with `torch.cond`; refuse.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gbfix.analysis.flow import State, flow_of, reads_tensor
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.codemods import _obligations as duty
from gbfix.codemods._arms import RETURN
from gbfix.codemods._fills import WrittenFill, guards_its_own_mask, written_under_its_own_mask
from gbfix.codemods._guards import is_guard, raises_otherwise
from gbfix.codemods._if_site import IfSite
from gbfix.codemods._obligations import shorten
from gbfix.codemods._preparations import ALONE, TOTAL
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scaling_sites import scaling_side
from gbfix.codemods._scalings import scaled_branch
from gbfix.codemods._sites import ADVICE, Draft, Site, torch_name
from gbfix.codemods._ternary_site import TernarySite
from gbfix.codemods._text import in_style_of, indentation_of, reindented
from gbfix.codemods._tree import is_elif
from gbfix.codemods._written_fills import written_obligations
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

BRANCH = ("GBF101", "tensor-value-branch")
RETURNS = ("GBF102", "tensor-value-return")
TERNARY = ("GBF103", "tensor-value-ternary")
MIXED = ("GBF104", "mixed-condition-branch")
MASKED = ("GBF105", "guarded-masked-fill")
SHARED_CALL = ("GBF106", "branch-around-call")
ONE_SIDE = ("GBF107", "branch-with-unsafe-side")
LOOP = ("GBF108", "tensor-value-loop")
SCALING = ("GBF111", "guarded-scaling")
_FILL = "fill without asking first"


@lru_cache(maxsize=2)
def branch_findings(view: FileView) -> tuple[Finding, ...]:
    """Every branch on a tensor in the compiled functions of a file, in source order, each with one code."""
    found: list[Finding] = []
    for compiled in view.compiled:
        found += FunctionBranches(view, compiled).findings()
    return tuple(sorted(found, key=lambda finding: (finding.span, finding.code)))


def findings_of(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The findings of one rule."""
    return (finding for finding in branch_findings(view) if finding.code == rule[0])


class FunctionBranches:
    """The branches of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self.view = view
        self.source = view.source
        self.compiled = compiled
        self.function = compiled.function
        self.flow = flow_of(view, compiled.function)

    def findings(self) -> list[Finding]:
        """The branches of this function, outermost first; what stands inside a fixed one is left to the next pass."""
        node = self.function.node
        if isinstance(node, ast.Lambda):
            return list(self._ternaries(node.body, None, self.flow.entry))
        return list(self._block(node.body))

    # -- finding ---------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt]) -> Iterator[Finding]:
        for index, statement in enumerate(body):
            state = self.flow.before.get(statement)
            if state is None:
                continue
            if isinstance(statement, ast.If) and self._never_compiled(statement.test):
                yield from self._block(statement.orelse)
                continue
            found = None
            if isinstance(statement, ast.If) and is_guard(self.view.names, statement):
                # A check, which other rules move.
                yield from self._block(statement.body if raises_otherwise(statement) else statement.orelse)
                continue
            if isinstance(statement, ast.If) and reads_tensor(self.flow, state, statement.test):
                found = self._attempt_if(statement, list(body[index + 1 :]), state)
                yield found
                if found.fix is not None:
                    if found.fix.span.end > self.source.span(statement).end:
                        return
                    continue
            if isinstance(statement, ast.While) and reads_tensor(self.flow, state, statement.test):
                yield self._loop(statement)
            yield from self._inside(statement, state, handled=found is not None)

    def _never_compiled(self, test: ast.expr) -> bool:
        """True for a test that is false while Dynamo captures: `not torch.compiler.is_compiling() and ...`."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=func)):
                name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                return name in ("is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling")
            case ast.BoolOp(op=ast.And(), values=parts):
                return any(self._never_compiled(part) for part in parts)
            case _:
                return False

    def _inside(self, statement: ast.stmt, state: State, *, handled: bool) -> Iterator[Finding]:
        if isinstance(statement, FunctionNode | ast.ClassDef):
            return
        for _, value in ast.iter_fields(statement):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.expr) and not (handled and part is getattr(statement, "test", None)):
                    yield from self._ternaries(part, statement, state)
                elif isinstance(part, ast.ExceptHandler | ast.match_case):
                    yield from self._block(part.body)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(statement, name, None)
            if not isinstance(block, list) or not block:
                continue
            chained = name == "orelse" and isinstance(statement, ast.If) and is_elif(self.source, block[0])
            if chained and handled and isinstance(block[0], ast.If):
                # The chain was judged as a whole; only what stands inside its sides is new.
                yield from self._inside(block[0], self.flow.before.get(block[0], state), handled=True)
            else:
                yield from self._block(block)

    def _ternaries(self, node: ast.expr, statement: ast.stmt | None, state: State) -> Iterator[Finding]:
        comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
        if isinstance(node, ast.Lambda | ast.JoinedStr | comprehension):
            return
        if isinstance(node, ast.IfExp) and reads_tensor(self.flow, state, node.test):
            found = self._attempt_ternary(node, statement, state)
            yield found
            if found.fix is not None:
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._ternaries(child, statement, state)
            elif isinstance(child, ast.keyword):
                yield from self._ternaries(child.value, statement, state)

    # -- deciding --------------------------------------------------------------------------

    def _attempt_if(self, node: ast.If, rest: list[ast.stmt], state: State) -> Finding:
        rule = self._rule_of(node, state)
        message = f"branch on the value of {shorten(self.source.segment(node.test), 60)}"
        if scaling_side(self.view.names, node) is not None:
            return self._attempt_scaling(node, state, message)
        written = written_under_its_own_mask(self.view.names, node)
        if written is not None:
            return self._attempt_written(node, written, state, message)
        try:
            return self._attempt(rule, message, IfSite(self.flow, node, rest, state))
        except RefusedError as refused:
            return self._refusal(rule, node, message, refused)

    def _attempt_scaling(self, node: ast.If, state: State, message: str) -> Finding:
        try:
            scaled = scaled_branch(self.flow, node, state)
            obligations = [*scaled.obligations, *duty.fullgraph_obligations(self.compiled.fullgraph, node.lineno)]
            self._check_handlers(node, obligations)
        except RefusedError as refused:
            return self._refusal(SCALING, node, message, refused)
        where = (self.function.qualname, self.compiled.reason)
        return Finding(*SCALING, self._header(node), message, *where, tuple(obligations), scaled.fix)

    def _attempt_written(self, node: ast.If, fill: WrittenFill, state: State, message: str) -> Finding:
        try:
            obligations = [
                *written_obligations(self.flow, node, fill, state),
                *duty.fullgraph_obligations(self.compiled.fullgraph, node.lineno),
            ]
            self._check_handlers(node, obligations)
        except RefusedError as refused:
            return self._refusal(MASKED, node, message, refused)
        text = in_style_of(self.source, self._dedented(node.body[0]))
        fix = Fix(_FILL, (Replacement(self.source.span(node), text),))
        where = (self.function.qualname, self.compiled.reason)
        return Finding(*MASKED, self._header(node), message, *where, tuple(obligations), fix)

    def _attempt_ternary(self, node: ast.IfExp, statement: ast.stmt | None, state: State) -> Finding:
        message = f"conditional expression on the value of {shorten(self.source.segment(node.test), 60)}"
        try:
            return self._attempt(TERNARY, message, TernarySite(self.flow, node, statement, state))
        except RefusedError as refused:
            return self._refusal(TERNARY, node, message, refused)

    def _attempt(self, rule: tuple[str, str], message: str, site: Site) -> Finding:
        """The site as torch.where, or as torch.cond where that is not allowed. Raises RefusedError."""
        if self.view.project.preferences.one_side:
            return self._one_side(site, message)
        draft, span = site.where()
        try:
            obligations = self._where_obligations(site, draft)
        except RefusedError as failed:
            try:
                return self._one_side(site, message)
            except RefusedError as neither:
                failed.advice += f"; torch.cond cannot run one side either: {neither.obligation.reason}"
                raise failed from neither
        if self._prefers_cond(obligations):
            with contextlib.suppress(RefusedError):
                return self._one_side(site, message)
        if rule == MASKED and isinstance(site.node, ast.If):
            draft.lines = [*draft.choices[0].predicate.hoisted, self._dedented(site.node.body[0])]
        if rule == BRANCH and RETURN in draft.targets:
            rule = RETURNS
        return self._finding(rule, site.node, message, obligations, draft, span)

    def _dedented(self, statement: ast.stmt) -> str:
        return reindented(self.source.segment(statement), indentation_of(self.source, statement), "")

    def _one_side(self, site: Site, message: str) -> Finding:
        """The branch as torch.cond. Raises RefusedError when that is not allowed either."""
        node = site.node
        draft, span = site.cond()
        later = site.written_later()
        self._check_conditions_used(draft)
        obligations = [
            *duty.condition_obligations(draft.choices),
            *duty.kind_obligations(draft.choices),
            duty.purity_obligation(draft.choices),
            duty.totality_obligation(draft.choices, traced=True),
            *duty.cond_obligations(self.flow, node, draft.choices, draft.captured, later, site.only_computed_with),
            *duty.fullgraph_obligations(self.compiled.fullgraph, node.lineno),
        ]
        refused = duty.refusal(obligations, ADVICE)
        if refused is not None:
            raise refused
        self._check_handlers(node, obligations)
        return self._finding(ONE_SIDE, node, message, obligations, draft, span)

    def _check_conditions_used(self, draft: Draft) -> None:
        """A condition that decides nothing would not be evaluated any more, and what it raises would be lost."""
        for choice in draft.choices:
            if not choice.selections:
                text, _, line = choice.predicate.leaves[0]
                raise RefusedError(
                    "the condition decides something",
                    f"both sides of {shorten(text)} give the same",
                    line,
                    "remove the branch if evaluating its condition is not needed",
                )

    def _where_obligations(self, site: Site, draft: Draft) -> list[Obligation]:
        self._check_conditions_used(draft)
        node, written_later = site.node, site.written_later()
        obligations = [
            *duty.condition_obligations(draft.choices),
            *duty.kind_obligations(draft.choices),
            duty.purity_obligation(draft.choices),
            duty.totality_obligation(draft.choices),
            *duty.gradient_obligations(draft.choices),
            *duty.backward_obligations(draft.choices, [*written_later, *site.touched_later()]),
            *duty.module_obligations(draft.choices),
            *duty.fullgraph_obligations(self.compiled.fullgraph, node.lineno),
            duty.identity_obligation(draft.choices, written_later, site.only_computed_with),
        ]
        refused = duty.refusal(obligations, ADVICE)
        if refused is not None:
            raise refused
        self._check_handlers(node, obligations)
        return obligations

    def _check_handlers(self, node: ast.If | ast.IfExp, obligations: Sequence[Obligation]) -> None:
        """Inside a `try` a side that may fail would run a handler instead."""
        for parent in self.source.ancestors(node):
            if parent is self.function.node:
                return
            for obligation in obligations if isinstance(parent, ast.Try) and parent.handlers else ():
                if obligation.claim == TOTAL and obligation.discharge is Discharge.ASSUMED:
                    advice = "move the branch out of the `try`"
                    raise RefusedError(
                        obligation.claim, f"a handler is near, and {obligation.reason}", obligation.line, advice
                    )

    def _prefers_cond(self, obligations: Sequence[Obligation]) -> bool:
        """True when a side may divide by an integer zero: torch.cond runs only the side that is taken."""
        return any(o.discharge is Discharge.ASSUMED and "integer zero" in o.reason for o in obligations)

    def _rule_of(self, node: ast.If, state: State) -> tuple[str, str]:
        if isinstance(node.test, ast.BoolOp) and not all(reads_tensor(self.flow, state, p) for p in node.test.values):
            return MIXED
        if guards_its_own_mask(self.view.names, node):
            return MASKED
        last = node.body[-1]
        if isinstance(last, ast.Return):
            return RETURNS
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and node.orelse:
            return SHARED_CALL
        return BRANCH

    def _loop(self, node: ast.While) -> Finding:
        reason = f"how often the loop runs depends on {shorten(self.source.segment(node.test))}"
        advice = "run a fixed number of steps with a mask of what is done, or keep the loop outside the compiled region"
        refused = RefusedError("the number of iterations does not depend on a tensor", reason, node.lineno, advice)
        return self._refusal(LOOP, node, f"loop on the value of {shorten(self.source.segment(node.test), 60)}", refused)

    # -- making findings -------------------------------------------------------------------

    def _finding(
        self,
        rule: tuple[str, str],
        node: ast.AST,
        message: str,
        obligations: Sequence[Obligation],
        draft: Draft,
        span: Span,
    ) -> Finding:
        replacements = (*draft.edits, Replacement(span, in_style_of(self.source, "\n".join(draft.lines))))
        title = {ONE_SIDE: "run one side with torch.cond", MASKED: _FILL}.get(rule, "select with torch.where")
        name, new_import = torch_name(self.view, node)
        fix = Fix(title, replacements, ("torch",) if new_import else ())
        proof = Obligation(
            "torch is PyTorch", Discharge.PROVED, f"{name} is imported" if not new_import else "the import is added"
        )
        where = (self.function.qualname, self.compiled.reason)
        apart = tuple(dict.fromkeys(draft.apart))
        if apart:
            reason = f"no other line of the given files names {apart[0]}; a check leaves out whether it is there"
            obligations = [*obligations, Obligation(ALONE, Discharge.PROVED, reason, getattr(node, "lineno", 0))]
        return Finding(*rule, self._header(node), message, *where, (proof, *obligations), fix, apart=apart)

    def _refusal(self, rule: tuple[str, str], node: ast.AST, message: str, refused: RefusedError) -> Finding:
        return Finding(
            *rule,
            self._header(node),
            message,
            self.function.qualname,
            self.compiled.reason,
            (refused.obligation,),
            advice=refused.advice or ADVICE,
        )

    def _header(self, node: ast.AST) -> Span:
        """The place to point at: the test of a statement, the whole of an expression."""
        span = self.source.span(node)
        if isinstance(node, ast.If | ast.While):
            end = self.source.span(node.test)
            return Span(span.line, span.column, end.end_line, end.end_column)
        return span
