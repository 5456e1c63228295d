import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    sizes = [x.dim()]
    print("sizes", sizes)
    y = x.reshape(-1)
    sizes.append(y.dim())
    return y * len(sizes)
