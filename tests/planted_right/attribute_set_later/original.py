import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        self.calls = 1
        self.last = 2
        return x * 2.0
