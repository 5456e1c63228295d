import torch


def scale(x: torch.Tensor) -> torch.Tensor:
    print("scaling", tuple(x.shape))
    return x * 2


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = scale(x)
    print("start")
    print("done")
    return y
