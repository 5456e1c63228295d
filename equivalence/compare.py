"""Two observations of the same call: everything in which they differ, the most important first.

NaN equals NaN at the same place, whatever its payload; -0.0 is not 0.0. Not compared: the sign of a zero in a gradient
(torch.where adds +0.0 to what it passes on) and its strides, the strides of dimensions of size 1 and of empty tensors,
the hash order of sets, the order of plain attributes, the time, the graphs and the branches taken; gradients of
gradients (torch.cond has none), files, environment variables, and what the functions in a result do when they are
called.
"""

from __future__ import annotations

from dataclasses import replace

from gbfix.equivalence.compare_outcomes import differences, same_exception, same_failure
from gbfix.equivalence.compare_values import ValueComparison
from gbfix.equivalence.model import Difference, Mode, Observation, Raised, Tolerance

_NO_CODE_OF_THEIR_OWN = ("eager", "aot_eager")


def compare(
    original: Observation, rewritten: Observation, mode: Mode, tolerance: Tolerance | None = None
) -> tuple[Difference, ...]:
    """Everything in which two observations differ: outcome, result, arguments, state, gradients, messages, generators.

    Differences of floating values inside of the tolerance have `within` set.
    """
    found = differences(original, rewritten, ValueComparison(tolerance), same_exception)
    return tuple(replace(difference, mode=mode) for difference in found)


def same_for_compiled(
    eager_original: Observation,
    compiled_original: Observation,
    eager_rewritten: Observation,
    compiled_rewritten: Observation,
    tolerance: Tolerance | None = None,
    *,
    backend: str = "eager",
) -> tuple[tuple[Difference, ...], str]:
    """What counts against a rewrite in compiled mode, and how the original compiled differs from the original eager.

    Compiling changes programs a little by itself, so the compiled rewrite may do what the original did compiled, or
    what it did eagerly:

    1. At each place (the outcome with the result, one argument, one gradient, the messages, one generator, ...) it has
       to agree with one of the two, completely. Places are taken apart from each other: a rewrite without a break can
       print as the original eager, and have the strides of the original compiled.
    2. An exception that the compiler raises about a failing operation is the one that torch raised about it eagerly
       in both versions, if that was torch and no `raise` statement, and the compiler names its type or its text.
    3. A backend that makes code of its own (any but "eager" and "aot_eager") fuses other operations when one graph
       stands in place of two: floating values and gradients may then differ by what torch.testing allows for their
       dtype, with NaN and infinities at the same places, and results may have other strides.
    4. Where an operation fails while a graph runs, the modes that the graph had set stay set, since Dynamo puts them
       back only when it returns. They are not compared then.

    What is reported is relative to whichever of the two is closer. The text is "" where both agree. Differences that
    eager mode shows already are not looked for here: compare eagerly first.
    """
    own_code = backend not in _NO_CODE_OF_THEIR_OWN

    def against(reference: Observation, observed: Observation, raised_eagerly: Observation) -> list[Difference]:
        def same(one: Raised | None, other: Raised | None) -> bool:
            eagerly = (raised_eagerly.raised, raised_eagerly.backward_raised)
            failure = same_failure(one, other) and any(same_failure(each, other) for each in eagerly)
            return failure or same_exception(one, other)

        found = differences(reference, observed, ValueComparison(tolerance), same)
        if observed.raised is not None and (observed.raised.from_torch or observed.raised.from_compiler):
            found = [one for one in found if one.aspect != "modes"]
        if not own_code:
            return found
        rounded = differences(reference, observed, ValueComparison(tolerance, rounding=True), same)
        allowed = {one.where for one in rounded if one.within}
        return [one for one in found if not (one.where in allowed or _is_layout_of_code(one))]

    baseline = _text(against(eager_original, compiled_original, eager_original))
    from_compiled = against(compiled_original, compiled_rewritten, eager_rewritten)
    from_eager = against(eager_original, compiled_rewritten, eager_rewritten)
    counted_compiled = [one for one in from_compiled if any(_same_place(one, other) for other in from_eager)]
    counted_eager = [one for one in from_eager if any(_same_place(one, other) for other in from_compiled)]
    closer = counted_compiled if len(counted_compiled) < len(counted_eager) else counted_eager
    return tuple(replace(one, mode=Mode.COMPILED) for one in closer), baseline


def _is_layout_of_code(difference: Difference) -> bool:
    return difference.aspect == "strides" and difference.where.startswith("result")


def _same_place(one: Difference, other: Difference) -> bool:
    """One place is the other, or a part of it; without a result there are no parts of it, and no backward pass."""
    first, second = sorted((_place(one.where), _place(other.where)), key=len)
    if first == "call":
        return second.startswith(("call", "result", "gradient", "backward"))
    return second == first or second.startswith((f"{first}.", f"{first}[", f"{first} of "))


def _place(where: str) -> str:
    return where.split(" ")[0] if where.startswith("messages") else where


def _text(found: list[Difference]) -> str:
    if not found:
        return ""
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{first.where}: {first.aspect}, eager {first.original}, compiled {first.rewritten}{more}"
