import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    z = x.float()
    if (total := z.sum()) > 0:
        moved = z - total
        y = moved + moved
    else:
        y = z + total
    return y
