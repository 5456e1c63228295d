import torch
from torch import Tensor, nn


class M(nn.Module):
    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            y = x + (torch.sum(self.a) != 0)
        else:
            y = x + (x.sum() != 0)
        return y


f = M()
f.a = None


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
