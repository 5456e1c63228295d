import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None
        self.calls = 0
        self.weight = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, x: torch.Tensor):
        self.calls += 1
        return x * self.weight
