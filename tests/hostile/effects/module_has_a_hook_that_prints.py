import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.act.register_forward_hook(lambda m, i, o: print(o.sum().item()))

    @torch.compile
    def forward(self, x: Tensor):
        if x.sum() > 0:
            y = self.act(x)
        else:
            y = self.act(x + 1.0)
        return y


f = M()


def inputs():
    return [(torch.tensor(row, requires_grad=True),) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
