import torch
from torch import nn


class Warm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("_step", torch.tensor(1), persistent=False)

    @property
    def step(self) -> int:
        return int(self._step)

    @step.setter
    def step(self, value: int) -> None:
        self._step.fill_(value)

    def forward(self, x: torch.Tensor):
        y = x * self._step.clone() / 3.0
        self._step += 2
        z = self._step.clone() - y
        return z


def f(x):
    warm = Warm()
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    optimizer.step()
    compiled = torch.compile(warm)
    return [compiled(x) for _ in range(5)]
