import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        bad = (x < 0).any()
        self.calls += 1
        y = x * 2
        if bad:
            raise ValueError("negative input")
        return y
