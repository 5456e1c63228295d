"""The generators of random numbers of a process: seeding, what they are at, putting them back."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator

import torch

from gbfix.equivalence.tensor_facts import digest, raw_bytes


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[Callable[[], dict[str, str]]]:
    """Seed every generator that exists, and put all of them back at the end of the block.

    Gives a function that says what each of these is at by then: a digest of its state, by name ("torch", "cuda:0",
    "python", "numpy"). One that appears only during the block (numpy imported by the call) is not among them.
    """
    numpy = sys.modules.get("numpy")
    before = random.getstate(), torch.get_rng_state(), [torch.cuda.get_rng_state(one) for one in _cuda()]
    of_numpy = numpy.random.get_state() if numpy else None
    random.seed(seed)
    _seed_torch(seed)
    if numpy:
        numpy.random.seed(seed % 2**32)

    def states() -> dict[str, str]:
        found = {"torch": digest(raw_bytes(torch.get_rng_state()))}
        found |= {f"cuda:{index}": digest(raw_bytes(torch.cuda.get_rng_state(index))) for index in _cuda()}
        found["python"] = digest(repr(random.getstate()).encode())
        if numpy:
            name, keys, *numbers = numpy.random.get_state()
            found["numpy"] = digest(f"{name} {numbers}".encode() + keys.tobytes())
        return found

    try:
        yield states
    finally:
        random.setstate(before[0])
        torch.set_rng_state(before[1])
        for index, state in enumerate(before[2]):
            torch.cuda.set_rng_state(state, index)
        if numpy:
            numpy.random.set_state(of_numpy)


def _cuda() -> range:
    return range(torch.cuda.device_count()) if torch.cuda.is_initialized() else range(0)  # type: ignore[no-untyped-call]


def _seed_torch(seed: int) -> None:
    """All of torch's generators; where there is only the one of the CPU, without the long way over all devices."""
    if torch.backends.cuda.is_built() or torch.backends.mps.is_built() or getattr(torch.version, "xpu", None):  # type: ignore[no-untyped-call]
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)
