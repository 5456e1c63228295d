import torch


class Scale(torch.nn.Module):
    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        condition = x.sum() > 0
        y = torch.where(condition, x - 1.0, x - 2.0)
        self.last = torch.where(condition, x * 2.0, x + 1.0)
        return y


def f(x):
    scale = Scale()
    return scale(x), scale.last
