import torch
from torch import nn


@torch.compiler.disable(reason="reads values of tensors")
def _read_chosen(x, longer):
    marks = longer.to(x.device)
    return torch.where(marks == 1)[0]


class Patches(nn.Module):
    def __init__(self, fuses: bool) -> None:
        super().__init__()
        self.fuses = fuses
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, longer: torch.Tensor | None) -> torch.Tensor:
        chosen_first = _read_chosen(x, longer) if self.fuses else None
        x = x.transpose(0, 1)
        y = x * 2.0

        chosen = None
        if self.fuses:
            marks = longer.to(x.device)
            chosen = chosen_first

        y = self.layer(y.transpose(0, 1))
        if chosen is not None:
            y[chosen] = y[chosen].cos()
        return y.sin()


torch.manual_seed(0)
fusing = torch.compile(Patches(True), fullgraph=False)
plain = torch.compile(Patches(False), fullgraph=False)


def f(x, longer):
    return fusing(x, longer), plain(x, None)
