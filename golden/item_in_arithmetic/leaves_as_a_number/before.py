import torch

HISTORY = []


@torch.compile
def f(x: torch.Tensor, names):
    if names is None:
        return None
    y = x.float()
    s = y.sum().item()
    HISTORY.append(y.mean().item())
    k = int(y.argmax())
    for i in range(y.max().item().__int__()):
        y = y + i
    rows = torch.zeros(int((x > 0).sum()), 2)
    return y * s, s, y[:k], rows, round(y.min().item())
