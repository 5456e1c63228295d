import torch
from torch import Tensor, nn


class M(nn.Module):
    n = 0

    @property
    def k(self):
        M.n += 1
        return M.n

    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            a = self.k
            y = x + 1.0
        else:
            y = x + 2.0
        return y, M.n


f = M()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
