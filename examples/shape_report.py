"""A helper that reports shapes, called in the middle of a compiled function."""

import torch


def report(name: str, x: torch.Tensor) -> None:
    print(f"{name}: {tuple(x.shape)}")


@torch.compile(backend="eager")
def gram(x: torch.Tensor) -> torch.Tensor:
    y = x @ x.T
    report("gram", y)
    return y / x.shape[1]


if __name__ == "__main__":
    print(gram(torch.arange(6.0).reshape(3, 2)))
