import torch


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(3)

    def update(self, x: torch.Tensor, decay: float) -> None:
        self.mean = self.mean * decay + x * (1 - decay)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.update(torch.where(x.sum() > 0, x * 2.0, x + 1.0), decay=0.5)
        return x + self.mean


model = torch.compile(Model())
