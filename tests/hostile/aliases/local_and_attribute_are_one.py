import torch
from torch import Tensor, nn


class M(nn.Module):
    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            y = x + 1.0
            self.h = y
        else:
            y = x + 2.0
            self.h = y
        y.add_(1.0)
        return y, self.h


f = M()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
