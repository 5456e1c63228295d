import torch


@torch.compile
def f(x: torch.Tensor, i: torch.Tensor):
    best = x.sum(1).argmax()
    column = int(x.flatten().argmin() % 2) - x.shape[1]
    row = x[best]
    last = x[i.item(), :] + 1.0
    return row * 2.0, x[:, column] * 0.5, last, x[1:][-1 - best].exp(), best * x
