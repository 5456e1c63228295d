import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    z = torch.cond(
        y.sum() > 0,
        lambda: torch.log(y) + torch.sqrt(y) + torch.reciprocal(y),
        lambda: torch.sigmoid(y) + torch.tanh(y) + torch.relu(y),
    )
    return z
