import torch


@torch.compile
def f(x: torch.Tensor, ids: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    y = x + 1.0
    for number in range(3):
        mask = ids == number
        # rarely
        y[mask] = row.to(y.device, y.dtype)
    return y * 2.0
