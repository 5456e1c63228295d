"""One call of a function, with everything that can be observed of it. Runs in the process of one version."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from gbfix.equivalence.describe import GRADIENT_BYTES, RESULT_BYTES, STATE_BYTES, describe, objects_in, tensors_in
from gbfix.equivalence.exceptions import raised
from gbfix.equivalence.gradients import backward
from gbfix.equivalence.identity import Names
from gbfix.equivalence.messages import recorded
from gbfix.equivalence.model import Described, Observation, Raised
from gbfix.equivalence.modes import kept, modes
from gbfix.equivalence.promises import to_the_end
from gbfix.equivalence.randomness import seeded
from gbfix.equivalence.state import changed, plain_globals, snapshot

_OWNER = "self"


def observe_call(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    names: Sequence[str],
    owner: object | None = None,
    module_globals: dict[str, Any] | None = None,
    seed: int = 0,
    gradients: bool = True,
    grad_enabled: bool = True,
    descriptors: bool = True,
) -> Observation:
    """Call `function(*args, **kwargs)` once, to the end of what it promises, and describe what can be seen of it.

    names: of the positional arguments; those beyond are "args[0]" and so on. owner: the nn.Module whose state is
    described (called "self"), or any object. module_globals: where plain values are watched for changes.
    seed: of all generators, before the call. gradients: run a backward pass when a result requires gradients (never
    when `grad_enabled` is off, the grad mode of the call). descriptors: also record what is written to the file
    descriptors 1 and 2 below Python. An exception of the call is part of the observation, but KeyboardInterrupt.
    """
    arguments = _named(args, kwargs, names)
    known = _known(arguments, owner, module_globals)
    leaves = _leaves(arguments, owner) if gradients and grad_enabled else {}
    before = snapshot(module_globals)
    with kept(), seeded(seed) as states, recorded(descriptors=descriptors) as recorder:
        torch.set_grad_enabled(grad_enabled)
        result, error = None, None
        start = time.perf_counter()
        try:
            result = to_the_end(function)(*args, **kwargs)
            if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                torch.cuda.synchronize()  # An operation that fails on the device fails in this call.
        except KeyboardInterrupt:
            raise
        except BaseException as caught:
            error = caught
        seconds = time.perf_counter() - start
        with recorder.paused():
            modes_after = modes()
            # In this order: the result is then described by what it shares with the others, not the other way round.
            arguments_after = _arguments(arguments, known)
            state_after = _state(owner, known, before, module_globals)
            described = None if error is not None else describe(result, "result", known, RESULT_BYTES)
        found, backward_raised = _gradients(result, arguments, leaves) if leaves and error is None else ({}, None)
        random_after = states()
    return Observation(
        result=described,
        raised=None if error is None else raised(error),
        arguments=arguments_after,
        state=state_after,
        gradients=found,
        backward_raised=backward_raised,
        events=recorder.events(),
        random=random_after,
        modes=modes_after,
        seconds=seconds,
    )


def _named(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    extra = (f"args[{index}]" for index in range(len(args)))
    own = [names[index] if index < len(names) else next(extra) for index in range(len(args))]
    return {**dict(zip(own, args, strict=True)), **kwargs}


def _known(arguments: dict[str, Any], owner: object, module_globals: dict[str, Any] | None) -> Names:
    known = Names()
    for name, value in [*arguments.items(), (_OWNER, owner), *plain_globals(module_globals)]:
        for own, found in objects_in(value, name):
            known.add(found, own)
    return known


def _leaves(arguments: dict[str, Any], owner: object) -> dict[str, torch.Tensor]:
    """What gets gradients: arguments that require them, and the parameters of the owner, by name."""
    found: dict[str, torch.Tensor] = {}
    met: set[int] = set()
    for name, tensor in [*_tensors(arguments), *(tensors_in(owner, _OWNER) if owner is not None else [])]:
        if not tensor.requires_grad or id(tensor) in met:
            continue
        met.add(id(tensor))
        if not tensor.is_leaf:
            tensor.retain_grad()
        found[name] = tensor
    return found


def _tensors(arguments: dict[str, Any]) -> list[tuple[str, torch.Tensor]]:
    return [pair for name, value in arguments.items() for pair in tensors_in(value, name)]


def _arguments(arguments: dict[str, Any], known: Names) -> Described:
    items = tuple((name, describe(value, name, known, RESULT_BYTES)) for name, value in arguments.items())
    return Described("container", "arguments", items=items)


def _state(
    owner: object, known: Names, before: dict[str, Described], module_globals: dict[str, Any] | None
) -> Described:
    items = [] if owner is None else [(_OWNER, describe(owner, _OWNER, known, STATE_BYTES))]
    return Described("container", "state", items=(*items, *changed(before, snapshot(module_globals))))


def _gradients(
    result: object, arguments: dict[str, Any], leaves: dict[str, torch.Tensor]
) -> tuple[dict[str, Described | None], Raised | None]:
    """Of the results that require gradients, and of the arguments that the call wrote something with gradients to."""
    written = [tensor for _, tensor in _tensors(arguments) if tensor.grad_fn is not None]
    own = {id(leaf) for leaf in leaves.values()}
    results: dict[int, torch.Tensor] = {}
    for tensor in [one for _, one in tensors_in(result, "result")] + [one for one in written if id(one) not in own]:
        if tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex()):
            results.setdefault(id(tensor), tensor)
    if not results:
        return {}, None
    found, error = backward(list(results.values()), leaves)
    described = {
        name: None if value is None else describe(value, f"gradient of {name}", limit=GRADIENT_BYTES)
        for name, value in found.items()
    }
    return described, None if error is None else raised(error)
