import torch


class Frequencies(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.short = torch.tensor([1.0, 0.5])
        self.register_buffer("chosen", self.short, persistent=False)

    def make(self, device: torch.device, length: int):
        return torch.tensor([0.25, 0.125], device=device), 1.0

    def forward(self, positions: torch.Tensor) -> torch.Tensor:
        length = torch.max(positions) + 1
        condition = length > 8
        # Made when it is needed for the first time.
        if not hasattr(self, "long"):
            self.long, _ = self.make(positions.device, length=9)
        self.short = self.short.to(positions.device)
        self.register_buffer(
            "chosen",
            torch.where(condition, self.long, self.short),
            persistent=False,
        )
        return positions[:, None] * self.chosen


@torch.compile
def step(positions: torch.Tensor) -> torch.Tensor:
    return model(positions)


model = Frequencies()
