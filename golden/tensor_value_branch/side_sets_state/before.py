import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1.0
        if x.sum() > 0:
            self.last = x * 2.0
            y = x * 2.0
        return y


f = torch.compile(Net())
