import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    @torch.compile
    def forward(self, x: Tensor):
        a = x * 2.0
        b = x * 3.0
        if x.sum() > 0:
            y = self.act(a)
        else:
            y = self.act(b)
        return y, a, b


f = M()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
