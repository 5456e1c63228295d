import torch

TOTALS = {"loss": 0.0}


class Step:
    def __init__(self):
        self.total = 0.0
        self.losses = []

    @torch.compile
    def run(self, x: torch.Tensor):
        loss = x.sum()
        self.total += loss.item()
        y = x * self.total
        self.losses.append(loss.item())
        TOTALS["loss"] += loss.item()
        return y


def f(x):
    return Step().run(x)
