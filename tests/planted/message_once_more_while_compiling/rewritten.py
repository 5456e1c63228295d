import torch


@torch.compiler.allow_in_graph
def double(x: torch.Tensor) -> torch.Tensor:
    print("doubling")
    return x * 2


def f(x: torch.Tensor) -> torch.Tensor:
    return double(x) + 1
