"""The examples of a check: made from recorded calls, annotations and names, or given by the user."""

from __future__ import annotations

from collections.abc import Sequence

from gbfix.equivalence.generated import GeneratedInputs
from gbfix.equivalence.given import given_strategy
from gbfix.equivalence.inputs import Inputs
from gbfix.equivalence.model import Settings, Setup
from gbfix.equivalence.signatures import signature_of, with_words
from gbfix.evidence.model import ArgumentsSeen

__all__ = ["Inputs", "given_inputs", "inputs_for"]


def inputs_for(setup: Setup, seen: Sequence[ArgumentsSeen], settings: Settings, *, words: Sequence[str] = ()) -> Inputs:
    """Inputs around recorded calls, else from annotations, defaults and guesses. words: what texts may be, too.

    Raises `CheckError` that names the parameter which nothing tells how to make.
    """
    return GeneratedInputs(with_words(signature_of(setup, seen, settings), words))


def given_inputs(values: object, settings: Settings, *, module: bool = False) -> Inputs:
    """Inputs from the user's own strategy, list, or function that returns one of them. module: the target is one.

    One call's arguments are a tuple (positional), a dict (by keyword), a pair of both, or the only argument. Raises
    `CheckError` for what gives no arguments.
    """
    return given_strategy(values, settings, module=module)
