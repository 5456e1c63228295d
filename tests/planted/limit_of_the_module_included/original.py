"""The largest element is above the limit that the module was made with."""

import torch


class Net(torch.nn.Module):
    def __init__(self, limit: float = 37.5) -> None:
        super().__init__()
        self.limit = limit

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.max() > self.limit:
            return x * 2
        return x * 3
