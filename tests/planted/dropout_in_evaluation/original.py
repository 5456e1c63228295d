import torch
from torch.nn import functional


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * 2
        if self.training:
            x = functional.dropout(x, 0.5)
        return x
