import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = nn.Buffer(torch.tensor(n, dtype=torch.int64), persistent=False)
        self.register_buffer("width", torch.tensor(2), persistent=False)


class Meets(Base):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        number = torch.tensor(n, dtype=torch.int64)
        self.k = nn.Buffer(number, persistent=False)

    def forward(self, x: torch.Tensor):
        if x.shape[0] > self.k:
            x = x + 1.0
        return x * self.k


class Sets(Base):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.k = nn.Buffer(torch.tensor(3), persistent=False)

    def forward(self, x: torch.Tensor):
        x = x[: self.k]
        self.k = self.k + 0
        return x


class Returns(Base):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.k = nn.Buffer(torch.tensor(3), persistent=False)

    def size(self, x: torch.Tensor):
        return x.shape[0] - self.k if x.shape[0] > self.k else self.k

    def forward(self, x: torch.Tensor):
        return x[: self.size(x)]


meets, sets, returns = Meets(2), Sets(2), Returns(2)


@torch.compile
def f(x: torch.Tensor):
    return meets(x), sets(x), returns(x)
