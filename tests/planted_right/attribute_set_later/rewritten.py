import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        self.last = 2
        self.calls = 1
        return x * 2.0
