import torch
from torch import Tensor, nn


class M(nn.Module):
    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            self.h = x + 2.0
            y = torch.neg(self.h)
        else:
            self.h = x + 3.0
            y = torch.neg(self.h)
        return y


f = M()
f.h = torch.zeros(3)


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
