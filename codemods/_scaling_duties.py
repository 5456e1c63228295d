"""What a branch that scales in place relies on when it scales each time, by one where it was not taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Category, Term, Value
from gbfix.codemods import _obligations as duty
from gbfix.codemods._obligations import Choice
from gbfix.codemods._predicate import Predicate
from gbfix.codemods._preparations import TOTAL
from gbfix.codemods._scaling_sites import Scaled, Scaling, Side
from gbfix.engine.model import Discharge, Obligation

REAL = "what is scaled holds real numbers"
GRADIENTS = "gradients are the same"
ERRORS = "nobody relies on an error in backward"
PROVED, ASSUMED = Discharge.PROVED, Discharge.ASSUMED
_MODES = frozenset({"enable_grad", "set_grad_enabled", "inference_mode"})


class ScalingDuties:
    """What has to hold of one branch, before which `state` holds; factors: what is known of those of the side."""

    def __init__(self, flow: Flow, node: ast.If, side: Side, state: State, factors: Sequence[Value]) -> None:
        self._flow = flow
        self._node = node
        self._side = side
        self._state = state
        self._source = flow.context.source
        self._factors = factors

    def all(self, predicate: Predicate) -> tuple[Obligation, ...]:
        """Each of them, with how it was met."""
        return tuple(self._obligations(predicate))

    def _about(self, scaling: Scaling) -> Scaled:
        return Scaled(self._flow, self._side, scaling, self._node)

    def _obligations(self, predicate: Predicate) -> Iterator[Obligation]:
        line = self._node.lineno
        yield from duty.condition_obligations([Choice(predicate)])
        yield self._only_computes(predicate)
        yield self._cannot_fail(predicate)
        yield self._real()
        yield self._keeps_dtype()
        yield self._device(predicate)
        yield from self._gradients(line)

    def _evaluated(self) -> Iterator[tuple[ast.expr, ast.stmt]]:
        """What the side evaluates besides scaling."""
        for assigned in self._side.assigned:
            yield assigned.value, assigned
        for scaling in self._side.scalings:
            yield scaling.factor, scaling.node

    def _only_computes(self, predicate: Predicate) -> Obligation:
        claim = "both sides only compute"
        for node, statement in self._evaluated():
            effects = self._flow.evaluate(node, self._flow.before[statement])[1].effects
            for note in [*effects.impure, *effects.random, *effects.reads]:
                return Obligation(claim, Discharge.VIOLATED, note.text, note.line)
        for note in [*predicate.effects.impure, *predicate.effects.random]:
            return Obligation(claim, Discharge.VIOLATED, note.text, note.line)
        return Obligation(claim, PROVED, "a factor is computed, and nothing else", self._node.lineno)

    def _cannot_fail(self, predicate: Predicate) -> Obligation:
        for node, statement in self._evaluated():
            effects = self._flow.evaluate(node, self._flow.before[statement])[1].effects
            known = self._state.established | predicate.effects.keys()
            for requirement in effects.requirements:
                if requirement.key not in known:
                    return Obligation(TOTAL, ASSUMED, requirement.text, requirement.line)
        for scaling, factor in zip(self._side.scalings, self._factors, strict=True):
            about = self._about(scaling)
            shown, line = shorten(about.text), scaling.node.lineno
            if not factor.is_scalar:
                reason = f"{shorten(self._source.segment(scaling.factor))} may have dimensions that do not fit"
                return Obligation(TOTAL, ASSUMED, reason, line)
            if not about.is_dense():
                return Obligation(TOTAL, ASSUMED, f"{shown} may be expanded, or not known", line)
            if not about.is_tensor():
                return Obligation(TOTAL, ASSUMED, f"{shown} is not known to be a tensor", line)
            if not about.is_there():
                return Obligation(TOTAL, ASSUMED, f"{shown} may be None", line)
        for loop in self._side.loops:
            if not self._is_repeatable(loop.iter):
                reason = f"going over {shorten(self._source.segment(loop.iter))} may use it up"
                return Obligation(TOTAL, ASSUMED, reason, loop.lineno)
        return Obligation(TOTAL, PROVED, "multiplying by one does not raise", self._node.lineno)

    def _is_repeatable(self, node: ast.expr) -> bool:
        """True for a list or tuple, as a run showed, and for the parameters of a module."""
        match node:
            case ast.Call(func=ast.Attribute(attr="parameters"), args=[], keywords=[]) | ast.List() | ast.Tuple():
                return True
            case ast.Name() | ast.Attribute():
                seen = self._flow.context.view.observed(self._node.lineno)
                path = self._source.segment(node)
                if seen is None or path not in seen.names():
                    return False
                return all(one.values[path].type in ("list", "tuple") for one in seen.observations)
            case _:
                return False

    def _real(self) -> Obligation:
        """A complex infinity times one is no number, and integers do not take a floating factor."""
        for scaling, factor in zip(self._side.scalings, self._factors, strict=True):
            about = self._about(scaling)
            shown, line = shorten(about.text), scaling.node.lineno
            if any(v.dtype is not None and v.dtype.category not in (None, Category.FLOAT) for v in about.values):
                return Obligation(REAL, Discharge.VIOLATED, f"{shown} is not floating", line)
            if not about.is_real():
                return Obligation(REAL, ASSUMED, f"the dtype of {shown} is not known", line)
            if factor.dtype is not None and factor.dtype.category is Category.COMPLEX:
                return Obligation(REAL, Discharge.VIOLATED, "the factor is complex", line)
        reason = "a floating-point number times one is the same number, also NaN, infinite or -0.0"
        return Obligation(REAL, PROVED, reason, self._node.lineno)

    def _keeps_dtype(self) -> Obligation:
        """`torch.where(c, factor, 1)` has the dtype of the factor, but for a bool."""
        claim = "both sides have the same dtype"
        for scaling, factor in zip(self._side.scalings, self._factors, strict=True):
            known = factor.dtype is not None and (factor.dtype.category or factor.dtype.inexact)
            if not known or (factor.dtype is not None and factor.dtype.category is Category.BOOL):
                shown = shorten(self._source.segment(scaling.factor))
                return Obligation(claim, ASSUMED, f"{shown} may be bool", scaling.factor.lineno)
        return Obligation(claim, PROVED, "one takes the dtype of the factor", self._node.lineno)

    def _device(self, predicate: Predicate) -> Obligation:
        claim = "the condition is on their device"
        for scaling in self._side.scalings:
            devices = self._devices(scaling.factor)
            if self._tensors([self._node.test]) == self._tensors(self._made_from(scaling.factor)):
                continue
            for shown, leaf, line in predicate.leaves:
                if len(devices) != 1 or not leaf.devices or not leaf.devices <= devices:
                    reason = f"the device of {shorten(shown)} is not known to be that of the factor"
                    return Obligation(claim, ASSUMED, reason, line)
        return Obligation(claim, PROVED, "it is made from the same tensors", self._node.lineno)

    def _made_from(self, factor: ast.expr) -> list[ast.expr]:
        """The factor, and what the side assigns to the names that it reads."""
        found = [factor]
        for assigned in reversed(self._side.assigned):
            if stored_names([assigned]) & names_in(found):
                found.append(assigned.value)
        return found

    def _tensors(self, nodes: list[ast.expr]) -> dict[str, Value]:
        """The tensors that expressions read, by name, as they are before the branch."""
        names = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)]
        found = {part.id: self._flow.evaluate(part, self._state)[0] for part in names if part.id in self._state.values}
        return {name: value for name, value in found.items() if value.tensor_like}

    def _devices(self, factor: ast.expr) -> frozenset[Term]:
        """Where the tensors are that a factor is made from; of two without dimensions one may be elsewhere."""
        values = self._tensors(self._made_from(factor)).values()
        return frozenset().union(*(value.devices for value in values))

    def _gradients(self, line: int) -> Iterator[Obligation]:
        """What is scaled by one is written, and the factor has a gradient, in each call now."""
        for scaling, factor in zip(self._side.scalings, self._factors, strict=True):
            about, off = self._about(scaling), self._state.gradients_off
            shown = shorten(about.text)
            if factor.sources and not off:
                yield Obligation(GRADIENTS, ASSUMED, "the factor requires a gradient", scaling.factor.lineno)
                return
            if about.is_gradient:
                asked = self._second_derivatives()
                if asked is not None:
                    yield Obligation(GRADIENTS, ASSUMED, f"{asked} takes gradients of gradients", line)
                    return
                continue
            if about.carries_gradients(self._state):
                yield Obligation(GRADIENTS, ASSUMED, f"{shown} may require a gradient", scaling.node.lineno)
                return
            if self._flow.entry.gradients_off and all(value.fresh for value in about.values) and not self._turned_on():
                continue  # nothing of it was kept for backward
            reason = f"{shown} is written in each call, which fails where backward needs the old value"
            yield Obligation(ERRORS, ASSUMED, reason, scaling.node.lineno)
            return
        yield Obligation(GRADIENTS, PROVED, "neither the factor nor what it scales has one", line)

    def _turned_on(self) -> bool:
        """True when the files turn gradients on somewhere, or make tensors that nothing may write into."""
        trees = (source.tree for _, source in self._flow.context.view.project.files.naming(*_MODES))
        parts = (part for tree in trees for part in ast.walk(tree))
        return any(getattr(part, "attr", getattr(part, "id", "")) in _MODES for part in parts)

    def _second_derivatives(self) -> str | None:
        for path, source in self._flow.context.view.project.files.naming("create_graph"):
            for part in source.nodes:
                if isinstance(part, ast.keyword) and part.arg == "create_graph":
                    return f"{path}:{part.value.lineno}"
        return None
