import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 3

    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            y = x + self.k
        else:
            y = x + 1
        return y


f = M()
f.k = torch.ones(2, 3)


def inputs():
    return [(torch.tensor([1.0, 2.0, 3.0]),), (torch.tensor([-1.0, 2.0, -3.0]),)]
