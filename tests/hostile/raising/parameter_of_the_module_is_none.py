import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.k = 3

    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            y = x + self.w
        else:
            y = x - self.w
        return y


f = M()
f.w = None


def inputs():
    return [(torch.tensor([1.0]),)]
