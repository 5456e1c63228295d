import torch

NAMES = {1: "row", 2: "matrix"}


def f(x: torch.Tensor) -> tuple[str, torch.Tensor]:
    try:
        name = NAMES[x.dim()]
    except KeyError as error:
        raise ValueError("neither a row nor a matrix") from error
    return name, x * 2
