import torch

NAMES = {1: "row", 2: "matrix"}


def f(x: torch.Tensor) -> tuple[str, torch.Tensor]:
    name = NAMES.get(x.dim())
    if name is None:
        raise ValueError("neither a row nor a matrix")
    return name, x * 2
