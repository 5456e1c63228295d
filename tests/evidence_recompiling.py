"""A program that compiles functions anew for one reason each; "READ" marks the line that reads the guarded value."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

COUNT = 0


def sizes(x: Tensor) -> Tensor:  # READ sizes
    return x * 2


def ranks(x: Tensor) -> Tensor:  # READ ranks
    return x * 2


def types(x: Tensor) -> Tensor:  # READ types
    return x * 2


def strides(x: Tensor) -> Tensor:  # READ strides
    return x * 2


def gradients(x: Tensor) -> Tensor:  # READ gradients
    return x * 2


def devices(x: Tensor) -> Tensor:  # READ devices
    return x * 2


def parameters(x: Tensor) -> Tensor:  # READ parameters
    return x * 2


def thirds(x: Tensor) -> Tensor:
    if x.shape[0] % 3 == 0:  # READ thirds
        return x * 3
    return x * 2


def repeated(x: Tensor, n: int) -> Tensor:
    for _ in range(n):  # READ repeated
        x = x + 1
    return x


def lengths(xs: list[Tensor]) -> Tensor:
    return sum(xs)  # READ lengths


def keys(d: dict[str, Tensor]) -> Tensor:
    return d["a"] * len(d)


def texts(x: Tensor, mode: str) -> Tensor:
    return x * len(mode)  # READ texts


def functions(x: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    return f(x)  # READ functions


def constants(x: Tensor) -> Tensor:
    return x * COUNT  # READ constants


def aliases(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def modes(x: Tensor) -> Tensor:
    return x * 2


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def count(self, x: Tensor) -> Tensor:
        self.step += 1  # READ counter
        return x * self.step

    def forward(self, x: Tensor) -> Tensor:
        y = x + 1
        return self.count(y)


def main() -> None:
    def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return torch.compile(function, backend="eager")

    def each(function: Callable[..., Tensor], *arguments: tuple[object, ...]) -> None:
        call = compiled(function)
        for values in arguments:
            call(*values)

    global COUNT
    ones = torch.ones
    each(sizes, (ones(4),), (ones(5),), (ones(6),))
    each(ranks, (ones(4),), (ones(4, 1),))
    each(types, (ones(4),), (ones(4).double(),), (ones(4).int(),))
    each(strides, (ones(4, 3),), (ones(3, 4).t(),))
    each(gradients, (ones(4),), (ones(4, requires_grad=True),))
    each(devices, (ones(4),), (ones(4, device="meta"),))
    each(parameters, (ones(4),), (nn.Parameter(ones(4), requires_grad=False),))
    each(thirds, (ones(4),), (ones(5),), (ones(6),))
    each(repeated, (ones(2), 2), (ones(2), 3), (ones(2), 4))
    each(lengths, ([ones(2)],), ([ones(2)] * 2,), ([ones(2)] * 3,))
    each(keys, ({"a": ones(2)},), ({"a": ones(2), "b": ones(2)},))
    each(texts, (ones(2), "a"), (ones(2), "b"), (ones(2), "c"))
    each(functions, (ones(2), lambda x: x * 2), (ones(2), lambda x: x * 3))
    same = ones(3)
    each(aliases, (ones(3), ones(3)), (same, same))
    call = compiled(constants)
    for _ in range(3):
        COUNT += 1
        call(ones(2))
    call = compiled(modes)
    call(ones(2))
    with torch.no_grad():
        call(ones(2))
    counter = compiled(Counter())
    for _ in range(11):
        counter(ones(2))


if __name__ == "__main__":
    main()
