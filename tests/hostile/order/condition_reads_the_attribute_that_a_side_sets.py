import torch
from torch import Tensor, nn


class M(nn.Module):
    @torch.compile
    def forward(self, x: Tensor):
        if torch.sum(self.h) > 0:
            self.h = x + 2.0
            return x + 1.0
        else:
            self.h = x + 2.0
            return x + 4.0


f = M()
f.h = torch.ones(3)


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
