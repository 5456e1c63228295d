import torch
from torch import nn

LIMIT = 0


@torch.compiler.disable(reason="reads values of tensors")
def _read_count(marks):
    marked = marks > LIMIT
    return (
        marked.flatten()
        .sum()
        .item()
    )


class Encoder(nn.Module):
    """Gives as many rows as are marked, and one."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
        """The first rows."""
        count_first = _read_count(marks)
        hidden = marks < LIMIT
        marked = marks > LIMIT  # row by row
        # One number for all rows.
        count = count_first
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
