import torch
from torch import nn

LIMIT = 0


class Encoder(nn.Module):
    """Gives as many rows as are marked, and one."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
        """The first rows."""
        hidden = marks < LIMIT
        marked = marks > LIMIT  # row by row
        # One number for all rows.
        count = (
            marked.flatten()
            .sum()
            .item()
        )
        y = self.layer(x)
        y = torch.where(hidden[:, None], y, -y)
        return y[: count + 1] + x[marked].sum()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(4, 4)
        self.encoder = Encoder()

    def forward(self, x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
        return self.encoder(self.first(x), marks).cos()


module = torch.compile(Model(), fullgraph=False)


def f(x, marks):
    return module(x, marks)
