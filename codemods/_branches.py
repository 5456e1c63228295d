"""Finds the branches of a file that read a tensor, and decides what becomes of each.

The rules of the control-flow family share this reading; each takes the findings of its own code.
Order of preference for one branch: keep the Python half of its condition a Python `if`; select with
`torch.where`; run one side with `torch.cond`; refuse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gbfix.analysis import values as v
from gbfix.analysis.effects import Effects
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.liveness import is_read_after, is_read_by_others
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.codemods import _obligations as duty
from gbfix.codemods._arms import CALL, RETURN, Arm, ArmReader, Piece
from gbfix.codemods._fills import guards_its_own_mask
from gbfix.codemods._obligations import Choice, Selection, shorten
from gbfix.codemods._predicate import Predicate, PredicateBuilder, reads_tensor
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import call, in_style_of, indentation_of, on_its_own, unused_name
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

BRANCH = ("GBF101", "tensor-value-branch")
RETURNS = ("GBF102", "tensor-value-return")
TERNARY = ("GBF103", "tensor-value-ternary")
MIXED = ("GBF104", "mixed-condition-branch")
MASKED = ("GBF105", "guarded-masked-fill")
SHARED_CALL = ("GBF106", "branch-around-call")
ONE_SIDE = ("GBF107", "branch-with-unsafe-side")
LOOP = ("GBF108", "tensor-value-loop")

_ADVICE = "compute both values with tensor operations, or keep the break on purpose with torch._dynamo.graph_break()"


_KEYWORDS = frozenset(
    {"return", "in", "and", "or", "not", "if", "else", "yield", "await", "is", "assert", "del", "raise"}
)


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


@dataclass
class _Draft:
    """New source in the making: lines, choices made on the way, and what they rely on."""

    lines: list[str] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    edits: list[Replacement] = field(default_factory=list)
    selects: int = 0
    hoist: bool = False
    targets: list[str] = field(default_factory=list)
    captured: list[ast.expr] = field(default_factory=list)


class FunctionBranches:
    """The branches of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self.view = view
        self.source = view.source
        self.compiled = compiled
        self.function = compiled.function
        self.flow = Flow(view, compiled.function)

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
            found = None
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
            chained = name == "orelse" and isinstance(statement, ast.If) and self._is_elif(block[0])
            if chained and handled and isinstance(block[0], ast.If):
                # The chain was judged as a whole; only what stands inside its sides is new.
                yield from self._inside(block[0], self.flow.before.get(block[0], state), handled=True)
            else:
                yield from self._block(block)

    def _is_elif(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.If):
            return False
        span = self.source.span(node)
        return self.source.lines[span.line - 1][span.column :].startswith("elif")

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
        try:
            site = _IfSite(self, node, rest, state)
            draft, span = site.where()
            failed = None
            try:
                obligations = self._where_obligations(node, draft, site.written_later())
            except RefusedError as refused:
                failed, obligations = refused, []
            if failed is not None or self._prefers_cond(obligations):
                try:
                    return self._one_side(site, node, message)
                except RefusedError as neither:
                    if failed is not None:
                        failed.advice += f"; torch.cond cannot run one side either: {neither.obligation.reason}"
            if failed is not None:
                raise failed
            if rule == MASKED:
                draft.lines = [*draft.choices[0].predicate.hoisted, self.source.segment(node.body[0])]
            if rule == BRANCH and RETURN in draft.targets:
                rule = RETURNS
            return self._finding(rule, node, message, obligations, draft, span)
        except RefusedError as refused:
            return self._refusal(rule, node, message, refused)

    def _attempt_ternary(self, node: ast.IfExp, statement: ast.stmt | None, state: State) -> Finding:
        message = f"conditional expression on the value of {shorten(self.source.segment(node.test), 60)}"
        try:
            site = _TernarySite(self, node, statement, state)
            draft, span = site.where()
            failed = None
            try:
                obligations = self._where_obligations(node, draft, ())
            except RefusedError as refused:
                failed, obligations = refused, []
            if failed is not None or self._prefers_cond(obligations):
                try:
                    return self._one_side(site, node, message)
                except RefusedError as neither:
                    if failed is not None:
                        failed.advice += f"; torch.cond cannot run one side either: {neither.obligation.reason}"
            if failed is not None:
                raise failed
            return self._finding(TERNARY, node, message, obligations, draft, span)
        except RefusedError as refused:
            return self._refusal(TERNARY, node, message, refused)

    def _one_side(self, site: _Site, node: ast.If | ast.IfExp, message: str) -> Finding:
        """The branch as torch.cond. Raises RefusedError when that is not allowed either."""
        draft, span = site.cond()
        later = site.written_later()
        self._check_conditions_used(draft)
        obligations = [
            *duty.condition_obligations(draft.choices),
            *duty.kind_obligations(draft.choices),
            duty.purity_obligation(draft.choices),
            duty.totality_obligation(draft.choices, traced=True),
            *duty.cond_obligations(self.flow, node, draft.choices, draft.captured, later),
            *duty.fullgraph_obligations(self.compiled.fullgraph, node.lineno),
        ]
        refused = duty.refusal(obligations, _ADVICE)
        if refused is not None:
            raise refused
        self._check_handlers(node, obligations)
        return self._finding(ONE_SIDE, node, message, obligations, draft, span)

    def _check_conditions_used(self, draft: _Draft) -> None:
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

    def _where_obligations(
        self, node: ast.If | ast.IfExp, draft: _Draft, written_later: Sequence[str]
    ) -> list[Obligation]:
        self._check_conditions_used(draft)
        obligations = [
            *duty.condition_obligations(draft.choices),
            *duty.kind_obligations(draft.choices),
            duty.purity_obligation(draft.choices),
            duty.totality_obligation(draft.choices),
            *duty.gradient_obligations(draft.choices),
            *duty.module_obligations(draft.choices),
            *duty.fullgraph_obligations(self.compiled.fullgraph, node.lineno),
            duty.identity_obligation(draft.choices, written_later),
        ]
        refused = duty.refusal(obligations, _ADVICE)
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
                if obligation.claim == duty.TOTAL and obligation.discharge is Discharge.ASSUMED:
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
        draft: _Draft,
        span: Span,
    ) -> Finding:
        replacements = (*draft.edits, Replacement(span, in_style_of(self.source, "\n".join(draft.lines))))
        title = {ONE_SIDE: "run one side with torch.cond", MASKED: "fill without asking first"}.get(
            rule, "select with torch.where"
        )
        name, new_import = self.torch_name(node)
        fix = Fix(title, replacements, ("torch",) if new_import else ())
        proof = Obligation(
            "torch is PyTorch", Discharge.PROVED, f"{name} is imported" if not new_import else "the import is added"
        )
        return Finding(
            *rule, self._header(node), message, self.function.qualname, self.compiled.reason, (proof, *obligations), fix
        )

    def _refusal(self, rule: tuple[str, str], node: ast.AST, message: str, refused: RefusedError) -> Finding:
        return Finding(
            *rule,
            self._header(node),
            message,
            self.function.qualname,
            self.compiled.reason,
            (refused.obligation,),
            advice=refused.advice or _ADVICE,
        )

    def _header(self, node: ast.AST) -> Span:
        """The place to point at: the test of a statement, the whole of an expression."""
        span = self.source.span(node)
        if isinstance(node, ast.If | ast.While):
            end = self.source.span(node.test)
            return Span(span.line, span.column, end.end_line, end.end_column)
        return span

    def torch_name(self, node: ast.AST) -> tuple[str, bool]:
        """The name under which PyTorch is known at a node, and whether an import must be added.

        Raises RefusedError when `torch` is bound to something else there.
        """
        names = self.view.names

        def means_torch(name: str) -> bool:
            bindings = names.bindings(name, node)
            return bool(bindings) and {b.qualified for b in bindings} == {"torch"}

        aliases = [name for name in names.local_bindings(self.source.tree) if name != "torch"]
        for name in ("torch", *aliases):
            if means_torch(name):
                return name, False
        if names.bindings("torch", node):
            raise RefusedError(
                "torch is PyTorch",
                "the name torch is bound to something else here",
                getattr(node, "lineno", 0),
                "import torch",
            )
        return "torch", True


class _Site:
    """A branch being rewritten; subclasses say where its sides come from."""

    def __init__(
        self, branches: FunctionBranches, node: ast.If | ast.IfExp, statement: ast.stmt | None, state: State
    ) -> None:
        self.branches = branches
        self.flow = branches.flow
        self.source = branches.source
        self.node = node
        self.statement = statement
        self.state = state
        self.torch, _ = branches.torch_name(node)
        self.taken = _all_names(self.source.tree)
        self.draft = _Draft()

    def where(self) -> tuple[_Draft, Span]:
        """The rewrite with torch.where and the span it replaces. Raises RefusedError."""
        raise NotImplementedError

    def cond(self) -> tuple[_Draft, Span]:
        """The rewrite with torch.cond and the span it replaces. Raises RefusedError."""
        raise NotImplementedError

    def written_later(self) -> list[str]:
        """The names that code after the branch may write in place; none for an expression."""
        return []

    def fresh(self, wanted: str) -> str:
        """A name that the file does not use yet."""
        name = unused_name(re.sub(r"\W+", "_", wanted), frozenset(self.taken))
        self.taken.add(name)
        return name

    def predicate(self, test: ast.expr, state: State, statement: ast.stmt | None) -> Predicate:
        """The tensor form of a test."""
        return PredicateBuilder(self.flow, state, self.torch, statement).build(test)

    def select(
        self, condition: str, first: Piece, second: Piece, choice: Choice, target: str, reader: ArmReader, prefix: str
    ) -> Piece:
        """One piece that is `first` where the condition holds and `second` elsewhere.

        Looks inside tuples, and inside calls of the same function: what both sides share is kept as it is.
        """
        if first.source == second.source and not first.effects.random and not first.effects.impure:
            return first
        inner = self._inside_both(condition, first, second, choice, target, reader, prefix)
        if inner is not None:
            return inner
        first, second = self._held(first, target), self._held(second, target)
        choice.first.add(first.effects)
        choice.second.add(second.effects)
        choice.selections.append(Selection(target, first, second))
        self.draft.selects += 1
        source = call(f"{self.torch}.where", [condition, first.source, second.source], prefix, reader.width)
        effects = Effects()
        effects.add(first.effects)
        effects.add(second.effects)
        return Piece(source, _selected_value(first, second), first.line, effects)

    def _held(self, piece: Piece, target: str) -> Piece:
        """A piece that is the name of a tensor still in use under that name is no new object."""
        if not isinstance(piece.node, ast.Name) or piece.node.id == target or not piece.value.fresh:
            return piece
        name = piece.node.id
        statement = next((p for p in self.source.ancestors(piece.node) if isinstance(p, ast.stmt)), None)
        if statement is None:
            return replace(piece, value=replace(piece.value, fresh=False))
        uses = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id == name]
        if len(uses) == 1 and not is_read_after(self.source, self.flow.context.function, [statement], name):
            return piece
        return replace(piece, value=replace(piece.value, fresh=False))

    def _inside_both(
        self, condition: str, first: Piece, second: Piece, choice: Choice, target: str, reader: ArmReader, prefix: str
    ) -> Piece | None:
        match first.node, second.node:
            case (ast.Tuple(elts=ones) as one, ast.Tuple(elts=others)) if len(ones) == len(others) and not _starred(
                ones + others
            ):
                parts = [
                    self.select(condition, reader.part(first, a), reader.part(second, b), choice, target, reader, "")
                    for a, b in zip(ones, others, strict=True)
                ]
                text = ", ".join(part.source for part in parts) + ("," if len(parts) == 1 else "")
                bare = not first.source.lstrip().startswith("(") or one.elts[0].col_offset == one.col_offset
                return Piece(text if bare and prefix else f"({text})", v.OTHER, first.line)
            case (ast.Call() as one, ast.Call() as other) if target == CALL or not (
                first.effects.pure and second.effects.pure
            ):
                return self._inside_call(condition, first, second, one, other, choice, target, reader)
            case _ if target == CALL:
                raise RefusedError(
                    "both sides make the same call",
                    f"{shorten(first.source)} and {shorten(second.source)} do not",
                    first.line,
                    "make the same call on both sides, or move the call out of the compiled region",
                )
            case _:
                return None

    def _inside_call(
        self,
        condition: str,
        first: Piece,
        second: Piece,
        one: ast.Call,
        other: ast.Call,
        choice: Choice,
        target: str,
        reader: ArmReader,
    ) -> Piece | None:
        reason = _difference_of_calls(one, other)
        if reader.text(one.func, first.renames) != reader.text(other.func, second.renames):
            reason = f"{shorten(self.source.segment(one.func))} and {shorten(self.source.segment(other.func))} differ"
        if reason:
            if target == CALL:
                advice = "make the same call on both sides, or move the call out of the compiled region"
                raise RefusedError("both sides make the same call", reason, one.lineno, advice)
            return None
        texts = []
        pairs = [
            *zip(one.args, other.args, strict=True),
            *((a.value, b.value) for a, b in zip(one.keywords, other.keywords, strict=True)),
        ]
        names: list[str | None] = [*(None for _ in one.args), *(k.arg for k in one.keywords)]
        for name, (a, b) in zip(names, pairs, strict=True):
            left, right = reader.part(first, a), reader.part(second, b)
            if left.source == right.source:
                text = left.source
            else:
                text = self.select(condition, left, right, choice, "an argument", reader, "").source
            texts.append(text if name is None else f"{name}={text}")
        self._note_on_call(pairs, choice, one)
        function = reader.text(one.func, first.renames)
        return Piece(call(function, texts, "", reader.width), first.value, first.line)

    def _note_on_call(self, pairs: Sequence[tuple[ast.expr, ast.expr]], choice: Choice, node: ast.Call) -> None:
        """The call and its shared arguments run between the condition and the selection of its other arguments."""
        shared = [a for a, b in pairs if self.source.segment(a) == self.source.segment(b)]
        plain = ast.Name | ast.Attribute | ast.Constant
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if not isinstance(owner, ast.Name) or not all(isinstance(part, plain) for part in shared):
            self.draft.hoist = True
        carries = any(s.first.value.sources | s.second.value.sources for s in choice.selections)
        if _may_show_text(node) and carries and not choice.gradients_off:
            reason = f"{shorten(self.source.segment(node.func))} may show the grad_fn, which torch.where makes another"
            choice.assumptions.append(("no grad_fn is shown", reason, node.lineno))

    def combine(
        self,
        condition: str,
        first: Arm,
        second: Arm,
        choice: Choice,
        live: Sequence[str],
        fallback: Mapping[str, Piece],
        reader: ArmReader,
    ) -> dict[str, Piece]:
        """The pieces of every live target, chosen between two sides."""
        for arm in (first, second):
            for name in [name for name in arm.outcome if name not in live]:
                # Nobody reads it, but computing it may raise, as it did before.
                reader.materialise(name, arm, {})
        choice.first.add(first.effects)
        choice.second.add(second.effects)
        choice.assumptions += [*first.assumptions, *second.assumptions]
        found: dict[str, Piece] = {}
        for target in live:
            one = first.outcome.get(target) or fallback.get(target)
            other = second.outcome.get(target) or fallback.get(target)
            if one is None or other is None:
                missing = (
                    "returns" if target == RETURN else "makes the call" if target == CALL else f"gives {target} a value"
                )
                raise RefusedError(
                    "both sides give the same names a value",
                    f"only one side {missing}",
                    self.node.lineno,
                    "give the name a value before the branch",
                )
            prefix = "return " if target == RETURN else "" if target == CALL else f"{target} = "
            found[target] = self.select(condition, one, other, choice, target, reader, prefix)
        return found


class _IfSite(_Site):
    """An `if` statement, with the statements after it where a side returns early."""

    def __init__(self, branches: FunctionBranches, node: ast.If, rest: list[ast.stmt], state: State) -> None:
        super().__init__(branches, node, node, state)
        self.node: ast.If = node
        self.rest = rest
        self.covered: list[ast.stmt] = [node]
        self.python, self.test, self.operator = self._split(node.test)
        self.body, self.orelse = self._sides()
        self.inner_state = state
        for part in self.python:
            self.inner_state = self.flow.refine(part, self.inner_state, self.operator == "and")

    def where(self) -> tuple[_Draft, Span]:
        """The rewrite with torch.where, with the condition in a name of its own when it is used more than once."""
        draft = self._where("")
        if draft.hoist or len(draft.targets) > 1 or self._uses(draft) > 1:
            self.taken = _all_names(self.source.tree)
            draft = self._where(self.fresh("condition"))
        return draft, self._span()

    def _uses(self, draft: _Draft) -> int:
        return sum(line.count(draft.choices[0].predicate.source) for line in draft.lines)

    def written_later(self) -> list[str]:
        """The names that code after the branch may write in place."""
        names = set()
        for part in ast.walk(self.flow.context.function.node):
            if getattr(part, "lineno", 0) <= self.node.lineno and not self._in_loop():
                continue
            match part:
                case ast.AugAssign(target=ast.Name(id=name)):
                    names.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                    names.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if attribute.endswith("_"):
                    names.add(name)
        return sorted(names)

    def _in_loop(self) -> bool:
        return any(isinstance(p, ast.For | ast.While) for p in self.source.ancestors(self.node))

    def _split(self, test: ast.expr) -> tuple[list[ast.expr], ast.expr, str]:
        """The Python parts of a condition, its tensor part, and the operator between them."""
        if not isinstance(test, ast.BoolOp):
            return [], test, ""
        tensors = [part for part in test.values if reads_tensor(self.flow, self.state, part)]
        python = [part for part in test.values if part not in tensors]
        if not python:
            return [], test, ""
        tensor = tensors[0] if len(tensors) == 1 else ast.copy_location(ast.BoolOp(test.op, tensors), tensors[0])
        return python, tensor, "and" if isinstance(test.op, ast.And) else "or"

    def _sides(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements of both sides. What follows an early return belongs to the side that does not return."""
        body, orelse = list(self.node.body), list(self.node.orelse)
        if _always_returns(body) and not _always_returns(orelse):
            self.covered += self.rest
            return body, orelse + self.rest
        if orelse and _always_returns(orelse) and not _always_returns(body):
            self.covered += self.rest
            return body + self.rest, orelse
        return body, orelse

    def _span(self) -> Span:
        first = self.source.span(self.node)
        last = self.source.span(self.covered[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def _where(self, hoisted: str) -> _Draft:
        self.draft = _Draft()
        predicate = self.predicate(self.test, self.inner_state, self.node)
        choice = Choice(predicate, established=self.inner_state.established, gradients_off=self.state.gradients_off)
        self.draft.choices.append(choice)
        self.draft.edits += predicate.edits
        condition = hoisted or predicate.source
        first_reader, second_reader = self._reader("_true"), self._reader("_false")
        first = first_reader.read(self.body, {})
        second = second_reader.read(self.orelse, {})
        if predicate.inverted:
            first, second = second, first
        live = self._live([*first.outcome, *second.outcome])
        self.draft.targets = live
        fallback = self._fallback(live, first, second)
        pieces = self.combine(condition, first, second, choice, live, fallback, first_reader)
        lines = list(predicate.hoisted)
        if hoisted:
            lines.append(f"{hoisted} = {predicate.source}")
        lines += [
            *first.lines,
            *second.lines,
            *_assignments(pieces, {**second.annotations, **first.annotations}),
        ]
        self.draft.lines = self._around(lines)
        return self.draft

    def cond(self) -> tuple[_Draft, Span]:
        """The rewrite with torch.cond: each side one lambda."""
        self.draft = _Draft()
        self.taken = _all_names(self.source.tree)
        predicate = self.predicate(self.test, self.inner_state, self.node)
        choice = Choice(predicate, established=self.inner_state.established, gradients_off=self.state.gradients_off)
        self.draft.choices.append(choice)
        self.draft.edits += predicate.edits
        first_reader, second_reader = self._reader("_true"), self._reader("_false")
        first, second = first_reader.read(self.body, {}), second_reader.read(self.orelse, {})
        if first.lines or second.lines or len(self.draft.choices) > 1:
            raise RefusedError(
                "each side is one expression", "a side needs several statements", self.node.lineno, _ADVICE
            )
        if predicate.inverted:
            first, second = second, first
        live = self._live([*first.outcome, *second.outcome])
        if CALL in live:
            raise RefusedError("both sides only compute", "a side is a call for its effect", self.node.lineno, _ADVICE)
        self.draft.targets = live
        fallback = self._fallback(live, first, second)
        self.combine(predicate.source, first, second, choice, live, fallback, first_reader)
        sides = []
        for arm in (first, second):
            pieces = [arm.outcome.get(name) or fallback[name] for name in live]
            parts = [part for piece in pieces for part in _parts_of(piece, first_reader)]
            if not all(part.effects.pure for part in parts):
                raise RefusedError("both sides only compute", "a side makes a call", self.node.lineno, _ADVICE)
            sides.append(_cond_side(parts, tuple_=len(live) > 1 or len(parts) != len(pieces)))
            self.draft.captured += [n for piece in pieces if piece.node is not None for n in _captured(piece.node)]
        target = "return" if live == [RETURN] else ", ".join(live) + " ="
        text = call(f"{self.torch}.cond", [predicate.source, *sides], target + " ", first_reader.width)
        self.draft.lines = self._around([*predicate.hoisted, f"{target} {text}"])
        return self.draft, self._span()

    def _around(self, lines: list[str]) -> list[str]:
        """The new lines inside the Python half of the condition, where there is one."""
        if not self.python:
            return lines
        self._check_python_half()
        condition = f" {self.operator} ".join(self._python_text(part) for part in self.python)
        inner = ["    " + line.replace("\n", "\n    ") for line in lines]
        skipped = list(self.node.orelse if self.operator == "and" else self.node.body)
        if self.covered[1:] and not _always_returns(skipped):
            skipped += self.rest
        self._check_short(skipped)
        verbatim = self._verbatim(skipped) if skipped else []
        if self.operator == "and":
            return [f"if {condition}:", *inner, *(["else:", *verbatim] if verbatim else [])]
        return [f"if {condition}:", *verbatim, "else:", *inner]

    def _check_python_half(self) -> None:
        """The Python parts are now asked first, and the skipped side is written twice."""
        predicate = self.draft.choices[0].predicate
        values = list(getattr(self.node.test, "values", []))
        first_tensor = next(i for i, part in enumerate(values) if part not in self.python)
        for part in values[first_tensor:]:
            if part not in self.python:
                continue
            value, evaluation = self.flow.evaluate(part, self.state)
            if not evaluation.effects.pure:
                note = [*evaluation.effects.impure, *evaluation.effects.random][0]
                raise RefusedError(
                    "the Python half can be asked first", note.text, note.line, "compute it before the branch"
                )
            if value.tensor_like:
                text = self.source.segment(part)
                predicate.assumptions.append(
                    (f"{text} is a Python value", "it is now asked before the tensor", part.lineno)
                )
            for requirement in evaluation.effects.requirements:
                if requirement.key not in self.state.established:
                    predicate.assumptions.append(
                        ("the Python half can be asked first", requirement.text, requirement.line)
                    )

    def _check_short(self, skipped: Sequence[ast.stmt]) -> None:
        """What runs when the Python half decides alone stands twice in the new code."""
        if len(skipped) > 3 or any(isinstance(s, ast.If) for s in skipped):
            raise RefusedError(
                "the side that both halves share is short",
                "it would have to be written twice",
                self.node.lineno,
                "put the Python condition in an `if` of its own",
            )

    def _python_text(self, part: ast.expr) -> str:
        text = self.source.segment(part)
        return (
            f"({text})"
            if isinstance(part, ast.BoolOp | ast.IfExp | ast.NamedExpr | ast.Lambda) or "\n" in text
            else text
        )

    def _verbatim(self, statements: Sequence[ast.stmt]) -> list[str]:
        indentation = indentation_of(self.source, statements[0])
        found = []
        for statement in statements:
            if "\n" in self.source.segment(statement) and not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
                raise RefusedError(
                    "the side that both halves share is short", "it holds a block", statement.lineno, _ADVICE
                )
            text = self.source.segment(statement).replace("\n" + indentation, "\n    ")
            found.append("    " + text)
        return found

    def _live(self, targets: Sequence[str]) -> list[str]:
        unique = list(dict.fromkeys(targets))
        returns = RETURN in unique
        if returns:
            return [t for t in unique if t in (RETURN, CALL) or "." in t or self._read_by_others(t)]
        return [t for t in unique if t == CALL or "." in t or self._read_later(t)]

    def _read_later(self, name: str) -> bool:
        return is_read_after(self.source, self.flow.context.function, self.covered, name)

    def _fallback(self, live: Sequence[str], first: Arm, second: Arm) -> dict[str, Piece]:
        """What the names that only one side sets hold on the other."""
        both = first.outcome.keys() & second.outcome.keys()
        return {name: self._current(name) for name in live if name not in both and name not in (RETURN, CALL)}

    def _read_by_others(self, name: str) -> bool:
        return is_read_by_others(self.source, self.flow.context.function, self.node, name)

    def _current(self, name: str) -> Piece:
        """The value a name has before the branch."""
        if "." in name:
            raise RefusedError(
                "both sides give the same names a value",
                f"only one side sets {name}",
                self.node.lineno,
                "set it on both sides",
            )
        value = self.inner_state.values.get(name)
        if value is None:
            raise RefusedError(
                "every name has a value on both sides",
                f"{name} may have no value before the branch, and only one side gives it one",
                self.node.lineno,
                f"give {name} a value before the branch",
            )
        return _name_piece(name, name, value, self.node.lineno)

    def _reader(self, suffix: str) -> ArmReader:

        def must_rename(name: str) -> bool:
            return self._read_later(name) or not self._private_to_one_block(name)

        def nested(statement: ast.If, rest: list[ast.stmt], arm: Arm, renames: dict[str, str]) -> None:
            self._nested(statement, rest, arm, renames, reader)

        def ternary(node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm) -> Piece | None:
            return self._nested_ternary(node, state, renames, arm, reader)

        def refined(state: State) -> State:
            for part in self.python:
                state = self.flow.refine(part, state, self.operator == "and")
            return state

        reader = ArmReader(
            self.flow, self.node, must_rename, lambda n: self.fresh(n + suffix), nested, ternary, refined
        )
        return reader

    def _private_to_one_block(self, name: str) -> bool:
        """True when one statement of the branch sets the name and only statements after it in its block read it."""
        uses = [
            part for top in self.covered for part in ast.walk(top) if isinstance(part, ast.Name) and part.id == name
        ]
        stores = [use for use in uses if not isinstance(use.ctx, ast.Load)]
        if len(stores) != 1:
            return False
        setter = next(parent for parent in self.source.ancestors(stores[0]) if isinstance(parent, ast.stmt))
        block = next(b for _, b in ast.iter_fields(self.source.parents[setter]) if isinstance(b, list) and setter in b)
        readers = {part for later in block[block.index(setter) + 1 :] for part in ast.walk(later)}
        return all(use in readers for use in uses if use is not stores[0])

    def _nested(self, node: ast.If, rest: list[ast.stmt], arm: Arm, renames: dict[str, str], reader: ArmReader) -> None:
        """A branch inside a side: its choice becomes part of the side."""
        state = reader.state_at(node)
        if not reads_tensor(self.flow, state, node.test):
            raise RefusedError(
                "both sides only compute",
                f"`if {shorten(self.source.segment(node.test))}` is a Python branch inside a side",
                node.lineno,
                "move the Python branch out, around the branch on the tensor",
            )
        if isinstance(node.test, ast.BoolOp) and not all(reads_tensor(self.flow, state, p) for p in node.test.values):
            raise RefusedError(
                "the tensor part of the condition stands apart from the Python part",
                f"`{shorten(self.source.segment(node.test))}` mixes both inside a side",
                node.lineno,
                "put the Python condition in an `if` of its own",
            )
        for name in [n for n in arm.outcome if n in _names_in([node])]:
            reader.materialise(name, arm, renames)
        if _names_in([node.test]) & set(renames):
            raise RefusedError(
                "names can be replaced",
                "a nested condition reads a name that the side sets",
                node.lineno,
                "nest the branch less deeply",
            )
        body, orelse = list(node.body), list(node.orelse)
        statements: list[ast.stmt] = [node]
        if _always_returns(body) and not _always_returns(orelse):
            orelse, statements = orelse + rest, [node, *rest]
        elif orelse and _always_returns(orelse) and not _always_returns(body):
            body, statements = body + rest, [node, *rest]
        predicate = self.predicate(node.test, state, node)
        if predicate.edits or predicate.hoisted:
            raise RefusedError(
                "a nested condition stands by itself",
                "it changes other statements",
                node.lineno,
                "test the tensor itself",
            )
        choice = Choice(predicate, established=state.established, gradients_off=state.gradients_off)
        self.draft.choices.append(choice)
        first, second = reader.read(body, renames), reader.read(orelse, renames)
        if predicate.inverted:
            first, second = second, first
        targets = list(dict.fromkeys([*first.outcome, *second.outcome]))
        live = [t for t in targets if t in (RETURN, CALL) or "." in t or self._nested_live(t, statements, targets)]
        fallback: dict[str, Piece] = {}
        for name in live:
            if name in arm.outcome:
                fallback[name] = arm.outcome[name]
            elif name in state.values:
                fallback[name] = _name_piece(name, renames.get(name, name), state.values[name], node.lineno)
        pieces = self.combine(predicate.source, first, second, choice, live, fallback, reader)
        arm.lines += [*first.lines, *second.lines]
        arm.effects.add(predicate.effects)
        arm.effects.add(first.effects)
        arm.effects.add(second.effects)
        for name, piece in pieces.items():
            arm.outcome.pop(name, None)
            arm.outcome[name] = piece
            renames.pop(name, None)
        arm.returns = arm.returns or RETURN in pieces

    def _nested_live(self, name: str, statements: Sequence[ast.stmt], targets: Sequence[str]) -> bool:
        function = self.flow.context.function
        if RETURN in targets:
            return is_read_by_others(self.source, function, statements[0], name)
        return is_read_after(self.source, function, statements, name)

    def _nested_ternary(
        self, node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm, reader: ArmReader
    ) -> Piece | None:
        return _ternary_piece(self, node, state, renames, arm, reader)


class _TernarySite(_Site):
    """A conditional expression."""

    def __init__(self, branches: FunctionBranches, node: ast.IfExp, statement: ast.stmt | None, state: State) -> None:
        super().__init__(branches, node, statement, state)
        self.node: ast.IfExp = node

    def where(self) -> tuple[_Draft, Span]:
        """The expression as torch.where."""
        self.draft = _Draft()
        piece = _ternary_piece(self, self.node, self.state, {}, Arm(), self._reader())
        assert piece is not None
        for choice in self.draft.choices:
            repeated = choice.predicate.effects.random and self.draft.selects > len(self.draft.choices)
            if repeated or self.draft.hoist:
                raise RefusedError(
                    "the condition is evaluated once",
                    "it may give something else when it is evaluated later or again",
                    self.node.lineno,
                    "compute the condition in a statement of its own",
                )
        self.draft.lines = [piece.source]
        return self.draft, self._span()

    def _span(self) -> Span:
        """The expression with the parentheses that only group it."""
        span = self.source.span(self.node)
        before = self.source.lines[span.line - 1][: span.column].rstrip()
        after = self.source.lines[span.end_line - 1][span.end_column :]
        if not before.endswith("(") or not after.lstrip().startswith(")"):
            return span
        outside = before[:-1].rstrip()
        if outside and (outside[-1].isalnum() or outside[-1] in "_)]\"'") and outside.split()[-1] not in _KEYWORDS:
            return span  # The parentheses of a call.
        return Span(span.line, len(before) - 1, span.end_line, span.end_column + after.index(")") + 1)

    def cond(self) -> tuple[_Draft, Span]:
        """The expression as torch.cond."""
        self.draft = _Draft()
        reader = self._reader()
        predicate = self._predicate()
        first, second = (reader.piece(side, self.state, {}, Arm()) for side in (self.node.body, self.node.orelse))
        if predicate.inverted:
            first, second = second, first
        choice = Choice(predicate, established=self.state.established, gradients_off=self.state.gradients_off)
        self.draft.choices.insert(0, choice)
        if len(self.draft.choices) > 1:
            raise RefusedError("each side is one expression", "a side holds another branch", self.node.lineno, _ADVICE)
        self.select(predicate.source, first, second, choice, "the expression", reader, "")
        self.draft.captured += [n for side in (self.node.body, self.node.orelse) for n in _captured(side)]
        sides = [_cond_side([part], tuple_=False) for part in (first, second)]
        text = call(f"{self.torch}.cond", [predicate.source, *sides], "", reader.width)
        self.draft.lines = [text]
        return self.draft, self._span()

    def _predicate(self) -> Predicate:
        predicate = self.predicate(self.node.test, self.state, self.statement)
        if predicate.hoisted:
            raise RefusedError(
                "the condition is an expression", "it assigns a name", self.node.lineno, "assign the name before"
            )
        self.draft.edits += predicate.edits
        return predicate

    def _reader(self) -> ArmReader:
        def nested(statement: ast.If, _rest: list[ast.stmt], _arm: Arm, _renames: dict[str, str]) -> None:
            raise AssertionError(f"a statement inside an expression: line {statement.lineno}")

        def ternary(node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm) -> Piece | None:
            return _ternary_piece(self, node, state, renames, arm, reader)

        reader = ArmReader(
            self.flow, self.statement or self.node, lambda _: True, self.fresh, nested, ternary, lambda s: s
        )
        return reader


def _ternary_piece(
    site: _Site, node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm, reader: ArmReader
) -> Piece | None:
    """A conditional expression on a tensor as one piece; None when its test is a Python test."""
    if not reads_tensor(site.flow, state, node.test):
        return None
    if _names_in([node.test]) & set(renames):
        raise RefusedError(
            "names can be replaced",
            "a nested condition reads a name that the side sets",
            node.lineno,
            "nest the branch less deeply",
        )
    predicate = site.predicate(node.test, state, site.statement)
    if predicate.hoisted:
        raise RefusedError("the condition is an expression", "it assigns a name", node.lineno, "assign the name before")
    site.draft.edits += predicate.edits
    choice = Choice(predicate, established=state.established, gradients_off=state.gradients_off)
    site.draft.choices.append(choice)
    first, second = (reader.piece(side, state, renames, arm) for side in (node.body, node.orelse))
    if predicate.inverted:
        first, second = second, first
    piece = site.select(predicate.source, first, second, choice, "the expression", reader, "")
    effects = Effects()
    effects.add(predicate.effects)
    effects.add(piece.effects)
    return replace(piece, effects=effects)


def _may_show_text(node: ast.Call) -> bool:
    """True for calls that print or log, by the names such functions have."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in (
        "print",
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "critical",
        "exception",
        "log",
        "write",
        "pprint",
    )


def _difference_of_calls(one: ast.Call, other: ast.Call) -> str:
    """Why two calls are not the same but for the values of their arguments; empty when they are."""
    if not isinstance(one.func, ast.Name | ast.Attribute):
        return "what is called is not a name"
    words = [[keyword.arg for keyword in call_.keywords] for call_ in (one, other)]
    if _starred(one.args + other.args) or None in words[0] + words[1]:
        return "star arguments hide what is passed"
    if words[0] != words[1]:
        return "the keywords differ"
    return "the number of arguments differs" if len(one.args) != len(other.args) else ""


def _name_piece(name: str, source: str, value: v.Value, line: int) -> Piece:
    """The piece for the value a name already has, under the name it has in the new code."""
    effects = Effects(upstream={name: value} if value.hazard is not None else {})
    return Piece(source, value, line, effects, atomic=True)


def _selected_value(first: Piece, second: Piece) -> v.Value:
    """The facts about a selected value: those its sides share."""
    joined = v.join(first.value, second.value, v.term("selected", first.source, second.source, first.line))
    return replace(joined, fresh=True, sources=first.value.sources | second.value.sources)


def _assignments(pieces: Mapping[str, Piece], annotations: Mapping[str, str]) -> list[str]:
    """The statements that give every target its piece; one tuple assignment when a piece reads an earlier target."""
    names = [name for name in pieces if name not in (RETURN, CALL)]
    for last in [pieces[target] for target in (CALL, RETURN) if target in pieces]:
        for name in [name for name in [*names, CALL] if name in pieces and pieces[name] is not last]:
            if name == CALL or _mentions(last.source, name):
                raise RefusedError(
                    "the order of evaluation does not matter",
                    f"{shorten(last.source)} is evaluated after {name} is set or called",
                    last.line,
                    "compute the result before setting it",
                )
    clash = any(_mentions(pieces[later].source, name) for i, name in enumerate(names) for later in names[i + 1 :])
    lines = []
    if clash:
        lines.append(f"{', '.join(names)} = {', '.join(pieces[name].source for name in names)}")
    else:
        for name in names:
            annotation = f": {annotations[name]}" if name in annotations else ""
            lines.append(f"{name}{annotation} = {on_its_own(pieces[name].source)}")
    if CALL in pieces:
        lines.append(pieces[CALL].source)
    if RETURN in pieces:
        lines.append(f"return {on_its_own(pieces[RETURN].source)}")
    return lines


def _mentions(source: str, name: str) -> bool:
    """True when source text reads a name or attribute path."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source) is not None


def _parts_of(piece: Piece, reader: ArmReader) -> list[Piece]:
    """The elements of a tuple, or the piece itself."""
    if not isinstance(piece.node, ast.Tuple) or _starred(piece.node.elts):
        return [piece]
    return [reader.part(piece, element) for element in piece.node.elts]


def _cond_side(parts: Sequence[Piece], *, tuple_: bool) -> str:
    """One side of torch.cond. It may not return its inputs, nor one tensor twice, so what is not new is cloned."""
    texts: list[str] = []
    for part in parts:
        simple = part.atomic or isinstance(part.node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        new = part.value.fresh and not part.atomic and part.source not in texts
        texts.append(part.source if new else f"{part.source if simple else f'({part.source})'}.clone()")
    joined = ", ".join(texts) + ("," if len(texts) == 1 else "")
    return f"lambda: ({joined})" if tuple_ else f"lambda: {texts[0]}"


def _captured(node: ast.expr) -> list[ast.expr]:
    """Names and attribute paths that an expression reads as values, not as functions."""
    if isinstance(node, ast.Call):
        parts = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            parts.append(node.func.value)
        return [name for part in parts for name in _captured(part)]
    if isinstance(node, ast.Name | ast.Attribute):
        return [node]
    return [name for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr) for name in _captured(child)]


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and _always_returns(last.body) and _always_returns(last.orelse)


def _starred(nodes: Sequence[ast.expr]) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)


def _names_in(nodes: Sequence[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _all_names(tree: ast.AST) -> set[str]:
    found = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}
    found |= {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
    return found
