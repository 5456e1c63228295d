"""Tells what a check exercised from what is only assumed.

A check calls the original and the rewritten program with the same examples and compares everything that can be seen
from outside. What a fix assumes is met as far as those examples would have shown the opposite; each claim says here
what they need for that. Some claims no check can show, and they stay assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum

from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Obligation, Span


@dataclass(frozen=True)
class ConditionFacts:
    """A condition that the rewrite touches, or a statement that it changes. line, end_line: where it stands.

    controls_to: the last line of what runs for one outcome of it and changed, 0 where nothing did.

    reached: the examples had every outcome that the rewrite matters for. with_gradients: they had each of them also
    with a backward pass. is_statement: its one outcome is that it ran.
    """

    line: int
    reached: bool
    with_gradients: bool = False
    end_line: int = 0
    is_statement: bool = False
    controls_to: int = 0


@dataclass(frozen=True)
class CheckFacts:
    """What a check of one target came to. Make none of a check that could not be made.

    conditions: those in the file of the findings. half, integers, non_contiguous, special (NaN, infinity), empty: how
    many examples had such an argument; no_floats: how many had none that could be NaN, or raised; compiled: how many
    were also run compiled; raised: how many ended in an error.
    as_recorded: the dtypes are those of a recorded run, in whose light the fix was planned, and no others count.
    """

    target: str
    examples: int = 0
    conditions: tuple[ConditionFacts, ...] = ()
    half: int = 0
    integers: int = 0
    non_contiguous: int = 0
    special: int = 0
    no_floats: int = 0
    empty: int = 0
    compiled: int = 0
    raised: int = 0
    device: str = "cpu"
    as_recorded: bool = False


class Need(str, Enum):
    """What the examples need, besides having reached both sides, for the opposite of a claim to show; in words."""

    GRADIENTS = "with gradients"
    DTYPES = "half and integer inputs"
    LAYOUTS = "inputs with other strides"
    VALUES = "NaN, infinities and empty inputs"
    COMPILED = "some compiled"
    ERRORS = "some that raise"
    DEVICE = "on an accelerator"


CHECKED_BY: Mapping[str, tuple[Need, ...]] = {
    # torch.where and torch.cond raise for a condition or side of another kind, which is another outcome.
    "condition is a tensor": (),
    "condition has one element": (),
    "both sides are tensors": (),
    # torch.where promotes and broadcasts silently: the result then has another dtype or shape on one side.
    "both sides have the same dtype": (Need.DTYPES,),
    "both sides have the same shape": (),
    "both sides have the same strides": (Need.LAYOUTS,),
    # Whether the result is an argument, shares its memory, or has other strides is compared at the target; what
    # happens to it before that, within the target, shows in results, arguments and state.
    "identity and strides do not matter": (Need.LAYOUTS,),
    # On the CPU alone every tensor is where the others are.
    "both sides are on the same device": (Need.DEVICE,),
    "the condition is on their device": (Need.DEVICE,),
    # The side that is now run, too, fails for certain values; an empty tensor is one.
    "the side not taken cannot fail or warn": (Need.VALUES, Need.DTYPES),
    "the whole condition can be evaluated": (Need.VALUES,),
    # The attributes of arguments are compared, and what making one draws or says.
    "what a side prepares can be prepared on either side": (),
    "the Python half can be asked first": (Need.VALUES,),
    # None and zero are told apart, NaN is found by its place; what only one side reaches shows on the other one.
    "gradients are the same": (Need.GRADIENTS,),
    "gradients reach the same tensors": (Need.GRADIENTS,),
    "the other gradient stays zero": (Need.GRADIENTS, Need.VALUES),
    "nobody relies on an error in backward": (Need.GRADIENTS,),
    # A tensor that compiled code keeps, and a gradient of its that somebody computes with, show in state and results.
    "nobody asks the tensor for a gradient of its own": (Need.GRADIENTS, Need.COMPILED),
    # Computed again for the gradients, a part of the target says its messages a second time.
    "no checkpoint runs it a second time": (Need.GRADIENTS, Need.COMPILED),
    # A warning that comes out in one of them only is another outcome.
    "the same filters decide about the warning": (Need.COMPILED,),
    # The text that a print or a logger writes of a tensor is compared, grad_fn included.
    "no grad_fn is shown": (Need.GRADIENTS,),
    # What now runs before a check or a message: errors, texts, arguments and random numbers are compared.
    "the statements after it cannot fail or warn": (Need.VALUES, Need.DTYPES),
    "the statements after it only compute": (),
    "the statements before it cannot fail": (Need.VALUES, Need.DTYPES),
    # The examples that raise are compared, compiled ones too: errors, arguments, state, modes and random numbers.
    "what compiled code does around the error does not matter": (Need.COMPILED, Need.ERRORS),
    "the condition is a tensor of truth values": (Need.DTYPES,),
    "the error comes where the check stands": (Need.DEVICE,),
    # An operator that cannot be transformed is an error of compiling.
    "no transform of torch.func runs it compiled": (Need.COMPILED,),
    "arithmetic rounds as with a number": (Need.DTYPES,),
    # A call that draws or changes something shows in the result.
    "nothing before it changes what is read": (),
    "the statements after it say nothing": (),
    # Records, output and warnings are compared in their order, and what an exception leaves of them.
    "the message says the same": (),
    "making the message changes nothing": (),
    "making the message does not raise": (),
    "nothing between the message and its new place says anything": (),
    "nothing between the message and its new place raises": (Need.VALUES, Need.DTYPES),
    # What is selected by a mask: another shape, kind or number of elements gives another result, or raises.
    "the mask has the shape of the tensor": (),
    "what is selected from is a tensor": (),
    "the targets have two dimensions": (),
    "the loss has the same bits for padded targets": (Need.DEVICE,),
    "what meets the selected elements is one number": (),
    "the number is only used in arithmetic with tensors": (),
    "the functions that get the number are those that were followed": (),
    "the number has the dtype of the tensors that it meets": (Need.DTYPES,),
    "no integer without dimensions that is narrower than int64 meets the number": (Need.DTYPES,),
    "the new values have the dtype of the tensor that they are written into": (Need.DTYPES,),
    "the elements that are not selected cannot make it fail": (Need.VALUES, Need.DTYPES),
    "something above negative and below positive infinity is selected": (Need.VALUES,),
    "a sum of the selected elements does not overflow": (Need.DTYPES,),
    "the tensor that is written into is not expanded": (Need.LAYOUTS,),
    # A graph takes no lists and objects, and prints nothing at all then.
    "what is printed is a tensor, a number or text": (Need.COMPILED,),
    # Formatting several elements as a number is an error in both, but not the same one.
    "the number that is printed comes from one element": (),
    "there is one length for each row, none below zero": (Need.VALUES,),
    # torch.cond takes a Python number the first time, and fails for the next one.
    "the sides use tensors and constants only": (Need.COMPILED,),
    # The copy, or the filled tensor, shows itself where its dtype, strides or gradient matter.
    "the value is a tensor": (),
    "the copied tensor requires no gradient": (Need.GRADIENTS,),
    "the copied tensor has no gaps between its elements": (Need.LAYOUTS,),
    "the copied object is a list, dict or set, and no subclass": (),
    "the fill value has no dimension": (),
    "the fill value requires no gradient": (Need.GRADIENTS,),
    "the result can hold the fill value": (Need.DTYPES, Need.VALUES),
    "there is a size to multiply": (),
    "the divisor of the size is positive": (),
    # Which values the examples hold decides whether Python would have raised.
    "the tensor has one element": (),
    # Keys that leave the target are compared.
    "nothing else reads the keys of the dict": (),
    # The buffer of the original and the number beside it in the rewritten module show in every size.
    "the buffer keeps the number that __init__ puts there": (),
    "integers are divided in float32 or float64": (),
    # A list with other numbers than the tensor has, or another method that gets it, shows in every size.
    "the tensor is made from the list": (),
    "the numbers are exact in the precision of what they meet": (Need.DTYPES,),
    "the list holds nothing but integers": (),
    "the call runs the function that the source shows": (),
    "the number is computed with tensors": (),
    "a number and a 0-d tensor give the same dtype and bits": (Need.DTYPES, Need.DEVICE),
    "the number's tensor is on the device where it is used": (Need.DEVICE,),
    "the number is finite and fits an integer of 64 bits": (Need.VALUES,),
    "the divisor is not zero": (Need.VALUES,),
    "math does not raise, and rounds as torch does": (Need.VALUES,),
    "the element exists": (Need.VALUES,),
    "the tensor has one dimension": (),
    "the tensor has two dimensions": (),
    "no object of the class leaves the function": (),
    "what is compared has no dimension": (),
    "the tensors have one shape": (),
    "the tensors have one dtype": (Need.DTYPES,),
    "nothing that is compared is NaN": (Need.VALUES,),
    "the indexed tensor has a dimension": (),
}
"""What each claim needs."""

CHECKED_ENDINGS: Mapping[str, tuple[Need, ...]] = {
    " is a Python value": (),
    " is True or False": (),
    " is a Python number": (Need.DTYPES,),
}
"""The same for claims that begin with a piece of source."""

STAYS_ASSUMED: Mapping[str, str] = {
    "nobody relies on the kind and the moment of the error": "it changes, which the user asked for",
    "the order of a floating-point sum does not matter": "a check compares such sums within a tolerance",
    "the last bits of a result do not depend on where its element lies": "a check compares them within a tolerance",
    "the sizes in the text stay the same": "what other sizes cost is compile time, which a check does not compare",
    "nobody relies on the error": "the error is one of compiling with fullgraph=True, whose end is the aim of the fix",
    "nobody relies on a warning": "torch shows it once in a process, whoever causes it, so that it is not compared",
    "only first derivatives are taken": "a check takes no other",
    "no caller compiles with fullgraph=True": "a check compiles as the program does, and knows no other callers",
    "nobody needs the message under torch.compile": "that it is missing there is what was chosen",
    "nobody reads the name of the function that says a message": "a check compares texts, not where they come from",
    "nobody turns the warning into an error": "the filters are those of the program, and a check has its own",
    "the modules have no hooks": "hooks are put on from outside, as are other modules in their place",
    "the number is exact in double precision": "the examples hold no integers beyond 2**53",
    "integer arithmetic stays within 64 bits": "the examples hold no integers that large",
    "every reader and writer of the attribute is known": "a check does not look at attributes that the target ignores",
    "the moment of the reading does not matter": "two runs never read the same time",
    "no transform or dispatch mode runs it": "a check runs no vmap, checkpoint and the like around its target",
    "the function breaks more than once": "what its pieces cost is compile time, which a check does not compare",
    "what is scaled holds real numbers": "the examples hold no complex numbers",
    "this module can be imported": "a check always imports it by its name, which the program may not",
}
"""The claims that no check shows, and why."""


SHOWN_BY_TRIAL = frozenset(
    {
        # A mark of anything else raises.
        "the argument is a tensor",
        # Else it is compiled as often as without the marks.
        "the size can be dynamic",
        "every call of it is marked",
    }
)
"""The claims that are checked when the recorded command, run with the fix, compiles the function less often."""


def with_trial(finding: Finding, told: str) -> Finding:
    """The finding after such a run: what it assumed of that kind is checked. told: what the run came to."""
    obligations = (
        replace(one, discharge=Discharge.CHECKED, reason=told)
        if one.discharge is Discharge.ASSUMED and one.claim in SHOWN_BY_TRIAL
        else one
        for one in finding.obligations
    )
    return replace(finding, obligations=tuple(obligations))


def with_checked(finding: Finding, facts: CheckFacts) -> Finding:
    """The finding after a check of a target that runs it: assumptions that the examples exercised are checked.

    Only those, and only when every condition within the finding was reached: a check that never came by shows nothing
    of it.
    """
    conditions = conditions_of(finding, facts)
    if not conditions or not all(condition.reached for condition in conditions):
        return finding
    met = {need for need in Need if _met(need, facts, conditions)}
    reached = "line reached" if all(condition.is_statement for condition in conditions) else "both sides reached"
    checked = tuple(_checked(obligation, met, facts, reached) for obligation in finding.obligations)
    return replace(finding, obligations=checked)


def conditions_of(finding: Finding, facts: CheckFacts) -> Sequence[ConditionFacts]:
    """The conditions and statements that stand within a finding, or it within them; without any, those that control it.

    Without those either, the ones that it edits: a message that moves behind the next statement is the same text, and
    the statement the one that changes.
    """
    first, last = finding.span.line, finding.span.end_line
    edited = [replacement.span for replacement in finding.fix.replacements] if finding.fix is not None else []
    controlling = [one for one in facts.conditions if one.line <= first and last <= one.controls_to]
    return _conditions_at([finding.span], facts) or controlling or _conditions_at(edited, facts)


def _conditions_at(spans: Sequence[Span], facts: CheckFacts) -> Sequence[ConditionFacts]:
    return [
        one
        for one in facts.conditions
        if any(one.line <= span.end_line and span.line <= max(one.line, one.end_line) for span in spans)
    ]


def needs_of(obligation: Obligation) -> tuple[Need, ...] | None:
    """What examples need for an assumption to be checked by them, None when no check can show it."""
    if obligation.claim in CHECKED_BY:
        # Warnings of torch's own are not compared, see STAYS_ASSUMED.
        return None if "warns" in obligation.reason else CHECKED_BY[obligation.claim]
    for ending, needs in CHECKED_ENDINGS.items():
        if obligation.claim.endswith(ending):
            return needs
    return None


def _checked(obligation: Obligation, met: set[Need], facts: CheckFacts, reached: str) -> Obligation:
    if obligation.discharge is not Discharge.ASSUMED:
        return obligation
    needs = needs_of(obligation)
    if needs is None or not met.issuperset(needs):
        return obligation
    return replace(obligation, discharge=Discharge.CHECKED, reason=_reason(needs, facts, reached))


def _reason(needs: tuple[Need, ...], facts: CheckFacts, reached: str) -> str:
    """As in "100 examples of model:step, both sides reached, with gradients"."""
    parts = [f"{facts.examples} examples of {facts.target}", reached]
    words = {Need.DTYPES: "dtypes as recorded"} if facts.as_recorded else {}
    return ", ".join([*parts, *(words.get(need, need.value) for need in needs)])


def _met(need: Need, facts: CheckFacts, conditions: Sequence[ConditionFacts]) -> bool:
    takes_no_floats = facts.no_floats == facts.examples
    return {
        Need.GRADIENTS: all(condition.with_gradients for condition in conditions),
        Need.DTYPES: facts.as_recorded or (facts.half > 0 and facts.integers > 0),
        Need.LAYOUTS: facts.non_contiguous > 0,
        Need.VALUES: facts.empty > 0 and (facts.special > 0 or (facts.as_recorded and takes_no_floats)),
        Need.COMPILED: facts.compiled > 1,
        Need.ERRORS: facts.raised > 0,
        Need.DEVICE: not facts.device.startswith("cpu"),
    }[need]
