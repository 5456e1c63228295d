import torch


class Net(torch.nn.Module):
    """Trained with AdamW, whose weight decay moves a parameter with a gradient of zeros, but none without one."""

    def __init__(self) -> None:
        super().__init__()
        self.small = torch.nn.Linear(4, 4)
        self.large = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.abs().mean() > 1:
            return self.large(x)
        return self.small(x)
