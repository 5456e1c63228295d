import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() + 1.0
    if y.sum() > 0:
        z = torch.log(y) + torch.sqrt(y) + torch.reciprocal(y)
    else:
        z = torch.sigmoid(y) + torch.tanh(y) + torch.relu(y)
    return z
