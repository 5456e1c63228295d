import torch


@torch.compile
def f(x: torch.Tensor, i: torch.Tensor):
    y = x.float() * 1.0
    row = y[y.sum(1).argmax()]
    row += 1.0
    y[y.sum(1).argmin().item()] = 0.0
    y[y.sum(0).argmin()].mul_(2.0)
    k = i.item()
    return y, y[k, k], [1.0, 2.0][y.argmax()], y[:k]
