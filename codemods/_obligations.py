"""What must be true for a branch to become `torch.where` or `torch.cond`, and how each part was met.

Every hazard of replacing a branch by a select is one obligation: the condition, the sides' kind, dtype,
shape and device, what running the other side does, gradients, and object identity.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import field

from gbfix.analysis import literals, sizes
from gbfix.analysis import values as v
from gbfix.analysis.effects import Effects, Requirement
from gbfix.analysis.flow import Flow
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._arms import Piece
from gbfix.codemods._predicate import Predicate
from gbfix.codemods._preparations import TOTAL
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

PROVED, ASSUMED, VIOLATED = Discharge.PROVED, Discharge.ASSUMED, Discharge.VIOLATED


@dataclass
class Selection:
    """One value that is chosen between two."""

    target: str
    first: Piece
    second: Piece


@dataclass
class Choice:
    """One condition with its two sides: what they do, and what is chosen between them."""

    predicate: Predicate
    first: Effects = field(default_factory=Effects)
    second: Effects = field(default_factory=Effects)
    established: frozenset[Hashable] = frozenset()
    gradients_off: bool = False
    assumptions: list[tuple[str, str, int]] = field(default_factory=list)
    selections: list[Selection] = field(default_factory=list)


def condition_obligations(choices: Sequence[Choice]) -> list[Obligation]:
    """The condition is a tensor, has one element, and evaluating all of it is harmless."""
    leaves = [leaf for choice in choices for leaf in choice.predicate.leaves]
    assumed = sorted({a for _, value, _ in leaves for a in value.assumed})
    text, _, line = leaves[0]
    found = []
    if assumed:
        reason = "; ".join(_claim(a.claim) for a in assumed)
        found.append(Obligation("condition is a tensor", ASSUMED, reason, assumed[0].line))
    else:
        found.append(Obligation("condition is a tensor", PROVED, f"{shorten(text)} is one", line))
    many = [(text, line) for text, value, line in leaves if not value.one and value.shape != v.SCALAR_SHAPE]
    if many:
        names = ", ".join(dict.fromkeys(shorten(text) for text, _ in many))
        found.append(
            Obligation(
                "condition has one element", ASSUMED, f"the number of elements of {names} is not known", many[0][1]
            )
        )
    else:
        found.append(Obligation("condition has one element", PROVED, f"{shorten(text)} reduces every dimension", line))
    found += [
        Obligation(claim, ASSUMED, reason, line)
        for choice in choices
        for claim, reason, line in dict.fromkeys([*choice.predicate.assumptions, *choice.assumptions])
    ]
    for choice in choices:
        found += _late_parts(choice)
    return found


def _late_parts(choice: Choice) -> list[Obligation]:
    """`and` and `or` used to skip their later parts."""
    claim = "the whole condition can be evaluated"
    late = choice.predicate.late
    if late.random:
        return [Obligation(claim, VIOLATED, late.random[0].text, late.random[0].line)]
    met = choice.established | choice.predicate.first
    open_ones = _unmet(late.requirements, met)
    if open_ones:
        return [Obligation(claim, ASSUMED, _texts(open_ones), open_ones[0].line)]
    return []


def kind_obligations(choices: Sequence[Choice]) -> list[Obligation]:
    """Both sides of every selection are tensors of the same dtype, shape and device, which is the condition's too."""
    selections = [s for choice in choices for s in choice.selections]
    return [
        _worst("both sides are tensors", [_tensors(s) for s in selections]),
        _worst("both sides have the same dtype", [_dtypes(s) for s in selections]),
        _worst("both sides have the same shape", [_shapes(s) for s in selections]),
        _worst("both sides are on the same device", [_devices(s) for s in selections]),
        _worst("the condition is on their device", [_condition_device(choice) for choice in choices]),
    ]


def purity_obligation(choices: Sequence[Choice]) -> Obligation:
    """Both sides only compute: no randomness, state, I/O or writes."""
    for choice in choices:
        for effects in (choice.first, choice.second):
            for note in [*effects.impure, *effects.random, *effects.reads]:
                return Obligation("both sides only compute", VIOLATED, note.text, note.line)
    line = min((s.first.line for c in choices for s in c.selections), default=0)
    return Obligation("both sides only compute", PROVED, "known operations on tensors, no randomness", line)


def backward_obligations(choices: Sequence[Choice], touched_later: Iterable[str]) -> list[Obligation]:
    """Both sides, and the select, now keep tensors for backward, which fails when one of them is written meanwhile."""
    later = set(touched_later)
    for choice in choices:
        if choice.gradients_off or not any(s.first.value.sources | s.second.value.sources for s in choice.selections):
            continue
        kept = {text for text, _, _ in choice.predicate.leaves if text.isidentifier()}
        for effects in (choice.first, choice.second):
            kept |= effects.names | {s.target for s in choice.selections} if effects.saves else set()
        written = sorted(kept & later)
        if written:
            line = min((s.first.line for s in choice.selections), default=0)
            reason = f"{written[0]} may be written after it was kept for backward, by both sides now"
            return [Obligation("nobody relies on an error in backward", ASSUMED, reason, line)]
    return []


def module_obligations(choices: Sequence[Choice]) -> list[Obligation]:
    """Modules that both run now: a hook, or another module put in their place from outside, would run too."""
    for choice in choices:
        for note in [*choice.first.heavy, *choice.second.heavy]:
            return [Obligation("the modules have no hooks", ASSUMED, f"{note.text}, which now always runs", note.line)]
    return []


def fullgraph_obligations(fullgraph: bool | None, line: int) -> list[Obligation]:
    """Under fullgraph=True the branch was an error when it was compiled."""
    if not fullgraph:
        return []
    reason = "fullgraph=True made this branch an error, which now is none"
    return [Obligation("nobody relies on the error", ASSUMED, reason, line)]


def totality_obligation(choices: Sequence[Choice], *, traced: bool = False) -> Obligation:
    """The side that was not taken cannot raise where the program did not.

    `traced` is for torch.cond, which traces both sides but runs one: a zero divisor only matters when it runs.
    """
    claim = TOTAL
    unmet: list[Requirement] = []
    for choice in choices:
        known = choice.established | choice.predicate.effects.keys()
        unmet += _unmet(choice.first.requirements, known | choice.second.keys())
        unmet += _unmet(choice.second.requirements, known | choice.first.keys())
    for requirement in unmet:
        # A division that stands under a branch stands there because the divisor may be zero.
        if isinstance(requirement.key, tuple) and requirement.key[:1] == ("number divisor",):
            return Obligation(claim, VIOLATED, f"it would fail unless {requirement.text}", requirement.line)
    if traced:
        unmet = [r for r in unmet if not (isinstance(r.key, tuple) and r.key[:1] == ("divisor",))]
    if unmet:
        return Obligation(claim, ASSUMED, _texts(unmet), unmet[0].line)
    return Obligation(claim, PROVED, "what one side needs, the other or the code before it needs too")


def gradient_obligations(choices: Sequence[Choice]) -> list[Obligation]:
    """A select sends a zero gradient to the side not taken, and makes both sides part of the graph."""
    if all(choice.gradients_off for choice in choices):
        return [_worst("gradients are the same", [_no_gradient(s) for s in _selections(choices)])]
    return [
        _worst("the other gradient stays zero", [_zero_gradient(choice) for choice in choices]),
        _worst("gradients reach the same tensors", [_same_sources(s) for s in _selections(choices)]),
    ]


def _selections(choices: Sequence[Choice]) -> list[Selection]:
    return [selection for choice in choices for selection in choice.selections]


def identity_obligation(
    choices: Sequence[Choice], written_later: Sequence[str], only_computed_with: Callable[[str], bool]
) -> Obligation:
    """The result used to be the object one side named; a select makes a new one, with strides of its own."""
    claim = "identity and strides do not matter"
    reason = "both sides are new tensors of the same layout"
    for choice in choices:
        for selection in choice.selections:
            held = [piece for piece in (selection.first, selection.second) if not piece.value.fresh]
            for piece in held:
                written = [name for name in (selection.target, piece.source) if name in written_later]
                if written:
                    text = f"{written[0]} is written in place later, and may be {shorten(piece.source)} itself"
                    return Obligation(claim, VIOLATED, text, piece.line)
                if not only_computed_with(selection.target):
                    text = f"{shorten(piece.source)} may be held by someone else, the new result is a copy"
                    return Obligation(claim, ASSUMED, text, piece.line)
                if not v.is_dense(piece.value.layout):
                    text = f"{shorten(piece.source)} may be expanded, of which the new result is no faithful copy"
                    return Obligation(claim, ASSUMED, text, piece.line)
                reason = f"{selection.target} is only computed with, and both sides have the same layout"
            if selection.first.value.layout != selection.second.value.layout:
                text = f"{_both(selection)} may have different strides"
                return Obligation(claim, ASSUMED, text, selection.first.line)
    return Obligation(claim, PROVED, reason)


def cond_obligations(
    flow: Flow,
    site: ast.If | ast.IfExp,
    choices: Sequence[Choice],
    captured: Iterable[ast.expr],
    written_later: Sequence[str],
    only_computed_with: Callable[[str], bool],
) -> list[Obligation]:
    """What torch.cond needs beyond a condition and sides that agree (facts on torch 2.13, see the rule's page)."""
    selections = _selections(choices)
    found = [
        _worst("both sides have the same strides", [_layouts(s) for s in selections]),
        identity_obligation(choices, written_later, only_computed_with),
    ]
    if all(choice.gradients_off for choice in choices):
        found.append(_worst("gradients are the same", [_no_gradient(s) for s in selections]))
    else:
        found.append(_worst("gradients reach the same tensors", [_same_sources(s) for s in selections]))
        reason = "torch.cond has no second derivative and does not work under torch.func or checkpoint"
        found.append(Obligation("only first derivatives are taken", ASSUMED, reason, site.lineno))
    found.append(_captured_obligation(flow, captured))
    return found


def _captured_obligation(flow: Flow, captured: Iterable[ast.expr]) -> Obligation:
    claim = "the sides use tensors and constants only"
    unsure = []
    libraries = [node for node in captured if flow.context.names.qualified(node) is not None]
    for node in captured:
        statement = next(
            (p for p in flow.context.source.ancestors(node) if isinstance(p, ast.stmt) and p in flow.before), None
        )
        state = flow.before[statement] if statement is not None else flow.entry
        value = flow.evaluate(node, state)[0]
        if flow.context.names.qualified(node) is not None:
            continue  # A constant of a library, such as torch.pi, is a constant of the graph.
        if value.kind is Kind.NUMBER and value.number != "int":
            text = flow.context.source.segment(node)
            return Obligation(
                claim, VIOLATED, f"torch.cond cannot take the Python number {text} into a side", node.lineno
            )
        if value.kind is not Kind.TENSOR and value.tensor_like:
            unsure.append(node)
    if unsure:
        names = ", ".join(dict.fromkeys(flow.context.source.segment(node) for node in unsure))
        return Obligation(
            claim,
            ASSUMED,
            f"{names} may be a Python number, which torch.cond cannot take into a side",
            unsure[0].lineno,
        )
    if libraries:
        text = flow.context.source.segment(libraries[0])
        reason = f"torch.cond finds {text} by importing this module by its name"
        return Obligation("this module can be imported", ASSUMED, reason, libraries[0].lineno)
    return Obligation(claim, PROVED, "every captured name is a tensor")


# -- one selection ---------------------------------------------------------------------------


def _tensors(selection: Selection) -> Obligation:
    claim = "both sides are tensors"
    pieces = (selection.first, selection.second)
    for piece in pieces:
        if not piece.value.tensor_like:
            what = "a Python number" if piece.value.kind is Kind.NUMBER else "not a tensor"
            return Obligation(claim, VIOLATED, f"{shorten(piece.source)} is {what}", piece.line)
    if all(piece.value.kind is Kind.MAYBE for piece in pieces):
        both = " and ".join(dict.fromkeys(shorten(piece.source) for piece in pieces))
        return Obligation(claim, VIOLATED, f"nothing shows that {both} are tensors", pieces[0].line)
    for piece in pieces:
        if piece.value.kind is Kind.MAYBE:
            return Obligation(claim, ASSUMED, f"{shorten(piece.source)} is a tensor; nothing shows it", piece.line)
        if piece.value.assumed:
            first = min(piece.value.assumed)
            return Obligation(claim, ASSUMED, _claim(first.claim), first.line)
    return Obligation(claim, PROVED, f"{shorten(pieces[0].source)} and {shorten(pieces[1].source)} are", pieces[0].line)


def _dtypes(selection: Selection) -> Obligation:
    claim = "both sides have the same dtype"
    first, second = selection.first, selection.second
    one, other = first.value.dtype, second.value.dtype
    if one is not None and other is not None:
        if one.term == other.term:
            return Obligation(claim, PROVED, f"{_both(selection)} follow the same promotion", first.line)
        concrete = (
            isinstance(one.term, str) and isinstance(other.term, str) and "default dtype" not in (one.term, other.term)
        )
        classes = one.category is not None and other.category is not None and one.category is not other.category
        if concrete or classes:
            names = f"{_dtype_name(one)} and {_dtype_name(other)}"
            return Obligation(claim, VIOLATED, f"{_both(selection)} are {names}", first.line)
    return Obligation(claim, ASSUMED, f"the dtypes of {_both(selection)} are not known to agree", first.line)


def _shapes(selection: Selection) -> Obligation:
    claim = "both sides have the same shape"
    first, second = selection.first, selection.second
    if first.value.shape is not None and first.value.shape == second.value.shape:
        return Obligation(claim, PROVED, f"{_both(selection)} have the same shape", first.line)
    for one, other in ((first, second), (second, first)):
        if _other_rank(one.value, other.value):
            reason = f"{shorten(one.source)} has not as many dimensions as {shorten(other.source)}"
            return Obligation(claim, VIOLATED, reason, one.line)
    seen = [sizes.sample(piece.value.shape or ()) for piece in (first, second)]
    if None not in seen:
        reason = f"{_both(selection)} are {list(seen[0] or ())} and {list(seen[1] or ())}"
        return Obligation(claim, VIOLATED, reason, first.line)
    return Obligation(claim, ASSUMED, f"the shapes of {_both(selection)} are not known to agree", first.line)


def _other_rank(one: Value, other: Value) -> bool:
    """True when `one` is `other` with dimensions indexed away or added."""
    for term in one.shape or ():
        parts = v.term_parts(term)
        if parts[:1] == ("index",) and parts[1] == other.shape and parts[3] != 0:
            return True
        if parts[:1] == ("unsqueeze",) and parts[1] == (other.shape,):
            return True
    return False


def _devices(selection: Selection) -> Obligation:
    claim = "both sides are on the same device"
    first, second = selection.first.value.devices, selection.second.value.devices
    if first == second:
        return Obligation(claim, PROVED, f"{_both(selection)} are made from the same tensors", selection.first.line)
    return Obligation(claim, ASSUMED, f"the devices of {_both(selection)} are not known to agree", selection.first.line)


def _condition_device(choice: Choice) -> Obligation:
    """Python read the condition from any device; torch.where wants it with the sides (a 0-d one may be on the CPU)."""
    claim = "the condition is on their device"
    sides = [s.first.value.devices for s in choice.selections]
    conditions = [(text, value.devices, line) for text, value, line in choice.predicate.leaves]
    for text, devices, line in conditions:
        if any(not devices <= side for side in sides) or not devices <= (sides or [devices])[0]:
            return Obligation(claim, ASSUMED, f"the device of {shorten(text)} is not known to be theirs", line)
    return Obligation(
        claim, PROVED, "it is made from the same tensors", min((line for *_, line in conditions), default=0)
    )


def _layouts(selection: Selection) -> Obligation:
    claim = "both sides have the same strides"
    if selection.first.value.layout == selection.second.value.layout:
        return Obligation(claim, PROVED, f"{_both(selection)} have the same layout", selection.first.line)
    return Obligation(claim, ASSUMED, f"the strides of {_both(selection)} are not known to agree", selection.first.line)


def _zero_gradient(choice: Choice) -> Obligation:
    """The zero that reaches the side not taken goes on to whatever that side alone was computed from."""
    claim = "the other gradient stays zero"
    ones, others = choice.first.upstream, choice.second.upstream
    alone = {text: value for text, value in {**ones, **others}.items() if ones.get(text) != others.get(text)}
    found = [*choice.first.hazards, *choice.second.hazards, *(value.hazard for value in alone.values())]
    hazard = v.worst(found)
    if hazard is None:
        carried = any(s.first.value.sources | s.second.value.sources for s in choice.selections)
        reason = "every derivative is finite, so a zero gradient stays zero" if carried else "no gradient flows here"
        return Obligation(claim, PROVED, reason)
    if hazard.singular:
        return Obligation(claim, VIOLATED, f"{hazard.text}: a zero gradient becomes NaN there", hazard.line)
    return Obligation(claim, ASSUMED, hazard.text, hazard.line)


def _no_gradient(selection: Selection) -> Obligation:
    claim = "gradients are the same"
    for piece in (selection.first, selection.second):
        if piece.value.sources:
            reason = f"{shorten(piece.source)} may carry a gradient from outside, the selected tensor does not"
            return Obligation(claim, ASSUMED, reason, piece.line)
    return Obligation(claim, PROVED, "gradients are off here", selection.first.line)


def _same_sources(selection: Selection) -> Obligation:
    claim = "gradients reach the same tensors"
    first, second = selection.first, selection.second
    if first.value.sources == second.value.sources:
        return Obligation(claim, PROVED, f"{_both(selection)} depend on the same tensors", first.line)
    only = sorted(s for s in first.value.sources ^ second.value.sources if isinstance(s, str))
    if only:
        reason = f"{', '.join(only)}: one side only; its gradient becomes zeros where it was None"
    else:
        reason = f"{_both(selection)} depend on different tensors, whose gradients become zeros where they were None"
    return Obligation(claim, ASSUMED, reason, first.line)


# -- words -----------------------------------------------------------------------------------


def _worst(claim: str, obligations: Sequence[Obligation]) -> Obligation:
    """The obligation that is met worst; of several equal ones the first."""
    for discharge in (VIOLATED, ASSUMED):
        for obligation in obligations:
            if obligation.discharge is discharge:
                return obligation
    return obligations[0] if obligations else Obligation(claim, PROVED, "both sides compute the same")


def refusal(obligations: Iterable[Obligation], advice: str) -> RefusedError | None:
    """A RefusedError for the first violated obligation, None when there is none."""
    for obligation in obligations:
        if obligation.discharge is VIOLATED:
            return RefusedError(obligation.claim, obligation.reason, obligation.line, advice)
    return None


def _unmet(requirements: Iterable[Requirement], known: Iterable[Hashable]) -> list[Requirement]:
    keys = frozenset(known)
    # A tensor that had to be floating is no bool tensor.
    keys |= {("NOT_BOOL", *key[1:]) for key in keys if isinstance(key, tuple) and key[:1] == ("FLOATING",)}
    return [r for r in dict.fromkeys(requirements) if r.key not in keys]


def _texts(requirements: Sequence[Requirement]) -> str:
    return "; ".join(dict.fromkeys(r.text for r in requirements))


def _claim(claim: str) -> str:
    return f"{claim}; its use suggests it" if claim.endswith("is a tensor") else claim


def _dtype_name(dtype: v.DType) -> str:
    if isinstance(dtype.term, str):
        return dtype.term
    return {v.Category.BOOL: "bool", v.Category.INT: "an integer dtype", v.Category.FLOAT: "floating"}.get(
        dtype.category or v.Category.COMPLEX, "another dtype"
    )


def _both(selection: Selection) -> str:
    first, second = shorten(selection.first.source), shorten(selection.second.source)
    return first if first == second else f"{first} and {second}"


def shorten(text: str, limit: int = 50) -> str:
    """The text on one line, cut at the end when it is too long for a reason that may name two."""
    return literals.shorten(text, limit)
