import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, factor=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * self.weight
        y = torch.where(y.sum() > 0, y * 2.0, y + 1.0)
        return y


f = torch.compile(Net())
