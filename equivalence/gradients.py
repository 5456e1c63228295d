"""The backward pass of a check: fixed cotangents, and the gradients of arguments and parameters by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch


def cotangent(tensor: torch.Tensor, index: int) -> torch.Tensor:
    """What the gradient of a result is taken to be: other numbers for each element and each result, always the same.

    Not all ones, which would hide that two elements changed places. Multiples of 1/32 below 4, which every floating
    dtype holds exactly but the 8-bit ones.
    """
    generator = torch.Generator().manual_seed(index)
    shape = (2, *tensor.shape) if tensor.is_complex() else tuple(tensor.shape)
    numbers = torch.randint(1, 128, shape, generator=generator, dtype=torch.int64, device="cpu").double() / 32
    numbers = numbers * (torch.randint(0, 2, shape, generator=generator, dtype=torch.int64, device="cpu") * 2 - 1)
    if tensor.is_complex():
        numbers = torch.complex(numbers[0], numbers[1])
    return numbers.to(device=tensor.device, dtype=tensor.dtype)


def backward(
    results: Sequence[torch.Tensor], leaves: Mapping[str, torch.Tensor]
) -> tuple[dict[str, torch.Tensor | None], BaseException | None]:
    """The gradients of `leaves` by name (None where torch has none), and what the backward pass raised.

    A real backward pass, as a program makes it (reentrant checkpoints refuse torch.autograd.grad); the `.grad` of the
    leaves are as before at the end.
    """
    before = {name: leaf.grad for name, leaf in leaves.items()}
    for leaf in leaves.values():
        leaf.grad = None
    raised: BaseException | None = None
    try:
        with torch.enable_grad():
            torch.autograd.backward(list(results), [cotangent(one, index) for index, one in enumerate(results)])
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raised = error
    finally:
        found = {name: leaf.grad for name, leaf in leaves.items()}
        for name, leaf in leaves.items():
            leaf.grad = before[name]
    return found, raised
