import torch


def f(x):
    def body(t: torch.Tensor):
        if t.sum() > 0:
            return t * 2.0
        return t + 1.0

    return torch.compile(body)(x)
