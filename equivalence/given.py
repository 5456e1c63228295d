"""Examples that the user gives: a Hypothesis strategy, a list of argument tuples, or a function that returns either."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gbfix.equivalence.example import Example, Given
from gbfix.equivalence.inputs import Inputs
from gbfix.equivalence.model import CheckError, Raised, Settings
from gbfix.equivalence.recipes import tensor_text

_TRIED = 30
"""Examples drawn of a strategy when three that differ are looked for."""


@dataclass(frozen=True)
class GivenInputs(Inputs):
    """Inputs from a strategy of arguments, or from a list of them (then `fixed` is not empty)."""

    arguments: SearchStrategy[Example]
    fixed: tuple[Example, ...]
    seed: int
    origin: str = "given inputs"

    def first(self) -> Example:
        """The first of the list, or the first that the strategy gives."""
        return self.fixed[0] if self.fixed else self._drawn(1)[0]

    def fullest(self) -> Example:
        """The first."""
        return self.first()

    def variations(self) -> tuple[tuple[str, Example], ...]:
        """None: the user says what the target takes."""
        return ()

    def accepting(self, taken: Collection[str]) -> GivenInputs:  # noqa: ARG002
        """The same inputs."""
        return self

    def starting_from(self, taken: Collection[str]) -> GivenInputs:  # noqa: ARG002
        """The same inputs: there are no variations."""
        return self

    def mended(self, raised: Raised) -> Iterator[Inputs]:  # noqa: ARG002
        """None: the user says what the target takes."""
        return iter(())

    def corners(self) -> tuple[Example, ...]:
        """The list; nothing for a strategy."""
        return self.fixed

    def of_sizes(self, sizes: Sequence[int]) -> tuple[Example, ...]:  # noqa: ARG002
        """None: the user says of what sizes they are."""
        return ()

    def strategy(self) -> SearchStrategy[Example]:
        """The user's arguments, with gradients on or off."""
        return self.arguments

    def sequence(self) -> tuple[Example, Example, Example]:
        """Three examples, with different shapes and dtypes where there are such."""
        found = list(self.fixed or self._drawn(_TRIED))
        kinds: dict[str, Example] = {}
        for example in found:
            kinds.setdefault(_facts(example), example)
        first = found[0]
        same = next((e for e in found[1:] if _facts(e) == _facts(first) and e != first), first)
        other = next((e for facts, e in kinds.items() if facts != _facts(first)), found[-1])
        return first, same, other

    def _drawn(self, count: int) -> list[Example]:
        found: list[Example] = []

        @seed(self.seed)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(self.arguments)
        def collect(example: Example) -> None:
            found.append(example)

        try:
            collect()
        except CheckError:
            raise
        except Exception as error:
            raise CheckError(f"the strategy of inputs raised {type(error).__name__}: {error}") from error
        return found


def given_strategy(values: object, options: Settings, *, module: bool = False) -> GivenInputs:
    """Inputs from what the user named; of a module also in evaluation mode and with other parameters.

    Raises `CheckError` when it is nothing that gives arguments.
    """
    if callable(values) and not isinstance(values, SearchStrategy):
        values = _returned_by(values)
    if isinstance(values, SearchStrategy):
        return GivenInputs(_in_every_mode(values.map(example_of_arguments), module=module), (), options.seed)
    if isinstance(values, Sequence) and not isinstance(values, str | bytes) and values:
        modes = (True, False) if module else (None,)
        found = [example_of_arguments(value) for value in values]
        fixed = tuple(replace(example, training=training) for training in modes for example in found)
        return GivenInputs(_in_every_mode(st.sampled_from(fixed), module=module), fixed, options.seed)
    raise CheckError(
        f"the given inputs are {_what(values)}, not a Hypothesis strategy of argument tuples or a list of such"
    )


def _returned_by(function: Callable[[], object]) -> object:
    try:
        return function()
    except Exception as error:
        raise CheckError(f"the function that gives the inputs raised {type(error).__name__}: {error}") from error


def _in_every_mode(examples: SearchStrategy[Example], *, module: bool) -> SearchStrategy[Example]:
    """Mostly as a program is run: with gradients on, and half of the time in training mode."""
    return st.builds(
        replace,
        examples,
        grad_enabled=st.sampled_from((True, True, True, False)),
        training=st.booleans() if module else st.none(),
        module_seed=st.integers(0, 2) if module else st.just(0),
    )


def example_of_arguments(arguments: object) -> Example:
    """The example of a tuple (args), a dict (kwargs), a pair (args, kwargs), or the only argument.

    Raises `CheckError` for what cannot be sent to another process.
    """
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    match arguments:
        case (tuple(positional), dict(keywords)):
            args, kwargs = positional, keywords
        case dict():
            kwargs = arguments
        case tuple() | list():
            args = tuple(arguments)
        case _:
            args = (arguments,)
    saved = io.BytesIO()
    try:
        torch.save((args, kwargs), saved)
    except Exception as error:
        raise CheckError(f"the given inputs cannot be sent to another process: {error}") from error
    texts = [*map(_short, args), *(f"{name}={_short(value)}" for name, value in kwargs.items())]
    return Example(given=Given(saved.getvalue(), ", ".join(texts)))


def _short(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return tensor_text(value)
    if isinstance(value, tuple | list):
        texts = ", ".join(map(_short, value))
        return f"({texts})" if isinstance(value, tuple) else f"[{texts}]"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _facts(example: Example) -> str:
    """The dtypes and shapes, which the text for people begins each tensor with."""
    assert example.given is not None
    args, kwargs = torch.load(io.BytesIO(example.given.data), weights_only=False)
    return repr([_outline(value) for value in (*args, *kwargs.values())])


def _outline(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride()
    if isinstance(value, tuple | list):
        return [_outline(item) for item in value]
    return type(value).__name__


def _what(value: object) -> str:
    return f"of type {type(value).__name__}" if value is not None else "None"
