import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        large = x.abs().sum() > 1
        normal = self.norm(x)
        return torch.where(large, normal * 2, normal * 3)
