import torch


class Scale(torch.nn.Module):
    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
        return self.last - x


def f(x):
    return Scale()(x)
