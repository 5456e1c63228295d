import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.name = "new"
        self.drop = torch.nn.Dropout(0.5)

    def counts(self, x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any():
            raise ValueError("below")
        self.name = "seen"
        return x + 1.0

    def draws(self, x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any():
            raise ValueError("below")
        return self.drop(x)

    def writes(self, x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any():
            raise ValueError("below")
        x += 1.0
        return x

    def says(self, x: torch.Tensor) -> torch.Tensor:
        if (x < 0).any():
            raise ValueError("below")
        y = x + 1.0
        torch._higher_order_ops.print("y {}", y)
        return y

    def protects(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        if index.max() > 4:
            raise IndexError("above")
        return x[index]

    def catches(self, x: torch.Tensor) -> torch.Tensor:
        try:
            if (x < 0).any():
                raise ValueError("below")
        except ValueError:
            return x - 1.0
        return x + 1.0

    def loops(self, x: torch.Tensor) -> torch.Tensor:
        for row in x:
            if (row < 0).any():
                raise ValueError("below")
        return x + 1.0

    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.catches(self.counts(self.draws(x)))
        return self.loops(self.says(self.protects(self.writes(x + 0), torch.tensor([0]))))


def f(x):
    torch.manual_seed(0)
    return Net()(x)
