import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    later = []
    sizes = [x.dim()]
    later.append(("sizes", sizes))
    y = x.reshape(-1)
    sizes.append(y.dim())
    y = y * len(sizes)
    for arguments in later:
        print(*arguments)
    return y
