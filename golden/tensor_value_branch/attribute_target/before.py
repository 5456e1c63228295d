import torch


class Scale(torch.nn.Module):
    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.last = x * 2.0
        else:
            self.last = x + 1.0
        return self.last - x


def f(x):
    return Scale()(x)
