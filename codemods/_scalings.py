"""Scales without asking first: by a factor that is one where the branch would not have been taken."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.liveness import is_read_after
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Kind, Value
from gbfix.codemods import _boundary_text as text
from gbfix.codemods import _obligations as duty
from gbfix.codemods._predicate import Predicate, PredicateBuilder
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scaling_duties import ScalingDuties
from gbfix.codemods._scaling_sites import Scaled, Scaling, Side, scaling_side
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import in_style_of, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Fix, Obligation, Replacement

ADVICE = "scale by torch.where(condition, factor, 1), without the branch"


@dataclass(frozen=True)
class ScaledBranch:
    """The edit of a branch with what it relies on."""

    fix: Fix
    obligations: tuple[Obligation, ...]


def scaled_branch(flow: Flow, node: ast.If, state: State) -> ScaledBranch:
    """A branch that only scales (see `scaling_side`) as a scaling by its factor or by one. Raises RefusedError."""
    side = scaling_side(flow.context.names, node)
    assert side is not None
    return _Scaler(flow, node, side, state).scaled()


class _Scaler:
    def __init__(self, flow: Flow, node: ast.If, side: Side, state: State) -> None:
        self._flow = flow
        self._node = node
        self._side = side
        self._state = state
        self._source = flow.context.source
        self._torch, self._import = torch_name(flow.context.view, node)
        self._taken = set(all_names(self._source.tree))
        self._factors = [self._value(scaling) for scaling in side.scalings]

    def scaled(self) -> ScaledBranch:
        """The edit with what it relies on. Raises RefusedError."""
        self._check_names()
        self._check_factors()
        predicate = PredicateBuilder(self._flow, self._state, self._torch, self._node).build(self._node.test)
        obligations = ScalingDuties(self._flow, self._node, self._side, self._state, self._factors).all(predicate)
        refused = duty.refusal(obligations, ADVICE)
        if refused is not None:
            raise refused
        replacement = Replacement(self._source.span(self._node), in_style_of(self._source, self._text(predicate)))
        fix = Fix("scale by one instead", (*predicate.edits, replacement), ("torch",) if self._import else ())
        return ScaledBranch(fix, obligations)

    def _value(self, scaling: Scaling) -> Value:
        """The factor, of which scaling by it changes neither dtype nor device, nor whether it has a gradient."""
        inside = names_in([scaling.factor]) & stored_names(self._node.body)
        return self._flow.evaluate(scaling.factor, self._flow.before[scaling.node] if inside else self._state)[0]

    # -- may it? -----------------------------------------------------------------------------

    def _check_names(self) -> None:
        """The names that the side sets would be set each time; `t *= s` keeps the tensor."""
        written = [*self._side.assigned, *(loop.target for loop in self._side.loops)]
        for name in sorted(stored_names(written)):
            if is_read_after(self._source, self._flow.context.function, [self._node], name):
                reason = f"{name} is read later, and would be set each time"
                raise RefusedError("nothing else sees what the side sets", reason, self._node.lineno, ADVICE)

    def _check_factors(self) -> None:
        for scaling, value in zip(self._side.scalings, self._factors, strict=True):
            if value.kind is not Kind.TENSOR:
                reason = f"{shorten(self._source.segment(scaling.factor))} is not known to be one"
                advice = "make the factor a tensor of the dtype of what it scales"
                raise RefusedError("the factor is a tensor", reason, scaling.factor.lineno, advice)
            if isinstance(scaling.node, ast.AugAssign) and not self._about(scaling).is_tensor():
                reason = f"{shorten(self._source.segment(scaling.node))} may give a name another number"
                raise RefusedError("what is scaled is a tensor", reason, scaling.node.lineno, ADVICE)

    def _about(self, scaling: Scaling) -> Scaled:
        return Scaled(self._flow, self._side, scaling, self._node)

    # -- text --------------------------------------------------------------------------------

    def _text(self, predicate: Predicate) -> str:
        lines = list(predicate.hoisted)
        edits: dict[ast.AST, str] = {}
        condition = predicate.source
        alone = self._at_assignment()
        if alone is None and (self._side.loops or len(self._side.scalings) > 1 or self._side.assigned):
            condition = self._fresh("condition")
            lines.append(f"{condition} = {predicate.source}")
        if alone is not None:
            edits[alone.value] = self._chosen(condition, alone.value, predicate)
        else:
            edits |= {s.factor: self._chosen(condition, s.factor, predicate) for s in self._side.scalings}
        return "\n".join([*lines, text.body_text(self._source, self._node.body, edits)])

    def _at_assignment(self) -> ast.Assign | None:
        """The first statement of the side, when it names the one factor that everything is scaled by."""
        match self._side.assigned:
            case [ast.Assign(targets=[ast.Name(id=name)]) as only] if self._node.body[0] is only:
                factors = {scaling.factor for scaling in self._side.scalings}
                loads = {
                    part
                    for statement in self._node.body
                    for part in ast.walk(statement)
                    if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
                }
                value = self._flow.evaluate(only.value, self._flow.before[only])[0]
                return only if loads == factors and value.kind is Kind.TENSOR else None
            case _:
                return None

    def _chosen(self, condition: str, factor: ast.expr, predicate: Predicate) -> str:
        written = " ".join(self._source.segment(factor).split())
        first, second = ("1", written) if predicate.inverted else (written, "1")
        return f"{self._torch}.where({condition}, {first}, {second})"

    def _fresh(self, wanted: str) -> str:
        found = unused_name(wanted, frozenset(self._taken))
        self._taken.add(found)
        return found
