from torch import compile, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(nn.Linear(1, 3).weight.detach().flatten())

    def forward(self, x):
        if self.scale.sum() > 0:
            y = self.scale * 2.0
        else:
            y = self.scale + 1.0
        return y * x


f = compile(Net())
