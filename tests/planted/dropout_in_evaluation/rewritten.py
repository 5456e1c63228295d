import torch
from torch.nn import functional


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.dropout(x * 2, 0.5)
