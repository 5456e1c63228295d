import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state = "new"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.state = "seen a positive sum"
            return x * 2
        return x * 3
