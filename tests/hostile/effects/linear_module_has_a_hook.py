import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    @torch.compile
    def forward(self, x: Tensor):
        with torch.no_grad():
            if x.sum() > 0:
                y = self.l(x)
            else:
                y = self.l(x + 1.0)
        return y


f = M()
f.l.register_forward_hook(lambda *a: print("hook"))


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
