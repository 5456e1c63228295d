import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.abs().sum() > 1:
            return self.norm(x) * 2
        return self.norm(x) * 3
