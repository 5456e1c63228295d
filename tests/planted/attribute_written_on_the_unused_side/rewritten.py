import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state = "new"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state = "seen a positive sum"
        return torch.where(x.sum() > 0, x * 2, x * 3)
