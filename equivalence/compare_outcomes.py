"""The differences of two observations, place by place: how the call ended, what it left behind, what it said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gbfix.equivalence.compare_values import ValueComparison, short
from gbfix.equivalence.model import Described, Difference, Event, Observation, Raised

SameException = Callable[[Raised | None, Raised | None], bool]

_ORDER = ("call", "result", "argument", "state", "backward", "gradient", "messages", "random", "mode")
_QUOTED = re.compile(r"got \w+\(.*\)$", re.MULTILINE)
"""What Dynamo quotes of the exception that an operation raised while it was traced."""
_TEXT = 200
"""Characters of a message or of an exception that are shown."""


def differences(
    original: Observation, rewritten: Observation, comparison: ValueComparison, same: SameException
) -> list[Difference]:
    """All differences, the most important first. same: whether two exceptions are the same one."""
    found = [
        *_outcome(original, rewritten, comparison, same),
        *_held("argument", original.arguments, rewritten.arguments, comparison),
        *_held("state", original.state, rewritten.state, comparison),
        *_backward(original, rewritten, comparison, same),
        *_messages(original.events, rewritten.events),
        *_texts("random", original.random, rewritten.random),
        *_texts("mode", original.modes, rewritten.modes),
    ]
    # Sorting is stable: within one kind the order of the walk stays.
    return sorted(found, key=lambda one: _ORDER.index(one.where.split(" ")[0].split(".")[0].split("[")[0]))


def same_exception(one: Raised | None, other: Raised | None) -> bool:
    """The same type, text and causes. Of what the compiler raises about a failing operation only the type counts."""
    if one is None or other is None:
        return one is other
    if one.from_compiler and other.from_compiler:
        return one.type == other.type
    return (one.type, one.text, one.causes) == (other.type, other.text, other.causes)


def same_failure(eager: Raised | None, compiled: Raised | None) -> bool:
    """Torch raised the one about an operation, and the compiler the other about the same.

    While tracing, texts are others ("a and b must have same reduction dim" for "mat1 and mat2 shapes cannot be
    multiplied"), but the compiler quotes the exception, and its own is a RuntimeError. What only a kernel refuses
    ('"abs_cpu" not implemented for 'Bool'') tracing lets pass, so that a later operation may be the one that fails.
    """
    if eager is None or compiled is None or not (eager.from_torch and compiled.from_compiler):
        return False
    if "not implemented for" in eager.text:
        return True
    named = f"{eager.type}(" in compiled.text or f"{eager.type}:" in compiled.text
    return named or eager.type in ("RuntimeError", compiled.type) or (eager.text != "" and eager.text in compiled.text)


def _outcome(
    original: Observation, rewritten: Observation, comparison: ValueComparison, same: SameException
) -> Iterator[Difference]:
    if original.raised is not None or rewritten.raised is not None:
        if not same(original.raised, rewritten.raised):
            yield Difference("exception", "call", *_apart(original, rewritten))
    elif original.result is not None and rewritten.result is not None:
        yield from comparison.walk(original.result, rewritten.result, "result")


def _apart(original: Observation, rewritten: Observation) -> tuple[str, str]:
    """How two calls ended, and where the texts of their exceptions part if the beginnings are the same."""
    first, second = _ending(original), _ending(rewritten)
    one, other = original.raised, rewritten.raised
    if first != second or one is None or other is None:
        return first, second
    at = next((at for at, (a, b) in enumerate(zip(one.text, other.text, strict=False)) if a != b), 0)
    start = max(0, at - 20)
    return (
        f"{one.type}: ...{one.text[start : start + _TEXT]!r}",
        f"{other.type}: ...{other.text[start : start + _TEXT]!r}",
    )


def _ending(observation: Observation) -> str:
    if observation.raised is not None:
        return exception_text(observation.raised)
    return f"returns {short(observation.result)}"


def exception_text(raised: Raised) -> str:
    """An exception in one line, with what caused it."""
    lines = raised.text.strip().splitlines()
    if raised.from_compiler and (quoted := _QUOTED.search(raised.text)):
        lines[0] += f" ({quoted.group(0)})"
    causes = f" (from {', '.join(raised.causes)})" if raised.causes else ""
    return f"{raised.type}{': ' + lines[0][: 2 * _TEXT] if lines else ''}{causes}"


def _held(
    kind: str, one: Described | None, other: Described | None, comparison: ValueComparison
) -> Iterator[Difference]:
    """The arguments, or the parts of the state. Of globals only those are there that the call changed."""
    unchanged = Described("opaque", "", text="unchanged")
    first, second = (dict(side.items) if side is not None else {} for side in (one, other))
    for name in dict.fromkeys([*first, *second]):
        yield from comparison.walk(first.get(name, unchanged), second.get(name, unchanged), f"{kind} {name}")


def _backward(
    original: Observation, rewritten: Observation, comparison: ValueComparison, same: SameException
) -> Iterator[Difference]:
    if (original.raised is None) != (rewritten.raised is None):
        return
    one, other = original.backward_raised, rewritten.backward_raised
    if not same(one, other):
        texts = ["returns" if each is None else exception_text(each) for each in (one, other)]
        yield Difference("backward", "backward", texts[0], texts[1])
        return
    first, second = original.gradients, rewritten.gradients
    if bool(first) != bool(second):
        texts = ["a backward pass" if each else "no result requires gradients" for each in (first, second)]
        yield Difference("gradient", "gradient", texts[0], texts[1])
        return
    for name in dict.fromkeys([*first, *second]):
        yield from _gradient(first.get(name), second.get(name), f"gradient of {name}", comparison)


def _gradient(
    one: Described | None, other: Described | None, where: str, comparison: ValueComparison
) -> Iterator[Difference]:
    if one is None or other is None:
        if one is not other:
            yield Difference("gradient", where, short(one), short(other))
        return
    for found in comparison.walk(one, other, where, gradient=True):
        yield replace(found, aspect="gradient") if found.aspect == "value" else found


def _messages(original: tuple[Event, ...], rewritten: tuple[Event, ...]) -> Iterator[Difference]:
    """The first message in which two sequences differ."""
    if original == rewritten:
        return
    pairs = zip(original, rewritten, strict=False)
    shorter = min(len(original), len(rewritten))
    at = next((index for index, (one, other) in enumerate(pairs) if one != other), shorter)
    texts = [_message(events[at]) if at < len(events) else "nothing" for events in (original, rewritten)]
    yield Difference("messages", f"messages [{at}]", texts[0], texts[1])


def _message(event: Event) -> str:
    text = event.text if len(event.text) <= _TEXT else event.text[:_TEXT] + "..."
    return f"{event.kind}{' ' + event.name if event.name else ''}: {text!r}"


def _texts(kind: str, one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[Difference]:
    aspect = "modes" if kind == "mode" else kind
    for name in one:
        if name in other and one[name] != other[name]:  # A generator that only one side has says nothing.
            yield Difference(aspect, f"{kind} {name}", one[name], other[name])
