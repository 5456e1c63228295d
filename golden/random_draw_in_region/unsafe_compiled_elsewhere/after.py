import random as rng

import torch


class Noise(torch.nn.Module):
    """Scales by chance."""

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        torch.nn.init.ones_(self.lin.weight)
        torch.nn.init.zeros_(self.lin.bias)

    def forward(self, x: torch.Tensor):
        """One step."""
        # the first layer
        scale = rng.choice([1.0, 2.0])
        drawn = rng.random()
        drawn_2 = rng.gauss(0.0, 1.0)
        y = self.lin(x) * 2.0  # doubled
        if drawn < 0.5:  # by chance
            y = y + 1.0
        return y * scale + drawn_2


net = torch.compile(Noise())


def f(x):
    rng.seed(3)
    return net(x), net(x), net(x), rng.random()
