import torch


class Scale(torch.nn.Module):
    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            y = x - 1.0
            self.last = x * 2.0
        else:
            y = x - 2.0
            self.last = x + 1.0
        return y


def f(x):
    scale = Scale()
    return scale(x), scale.last
