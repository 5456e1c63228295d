import torch


class Net(torch.nn.Module):
    def __init__(self, limit: float = 37.5) -> None:
        super().__init__()
        self.limit = limit

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x.max() >= self.limit, x * 2, x * 3)
