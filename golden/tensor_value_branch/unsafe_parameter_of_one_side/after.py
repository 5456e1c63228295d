import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.float() * 2.0
        y = torch.where(x.sum() > 0, y + self.bias, y)
        return y


f = torch.compile(Net())
