import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            t = x.to(torch.float16) @ x.to(torch.int32)
            y = x + 1.0
        else:
            t = x.to(torch.float16) @ x.to(torch.int32)
            y = x + 2.0
        return y


f = M()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
