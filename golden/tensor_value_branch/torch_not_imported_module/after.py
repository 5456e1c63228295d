from torch import compile, nn
import torch


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(nn.Linear(1, 3).weight.detach().flatten())

    def forward(self, x):
        y = torch.where(self.scale.sum() > 0, self.scale * 2.0, self.scale + 1.0)
        return y * x


f = compile(Net())
