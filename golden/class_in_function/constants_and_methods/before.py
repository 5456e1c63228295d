import enum

import torch

OFFSET = 2.0


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = x + 1.0

        # how much
        class Scale:
            """Two
            lines."""

            factor = 3.0  # thrice
            text: str = "a"

            def __init__(self, by):
                self.by = by * self.factor

            @property
            def twice(self):
                return self.by * 2.0 + OFFSET

            def apply(self, z):
                return z * self.twice

        class Mode(enum.Enum):
            ADD = 1
            MUL = "a b"

        scale = Scale(2.0)
        if Mode.ADD.value == 1:
            y = y + Scale.factor
        return scale.apply(y) * len(Scale.text + Mode.MUL.name), Scale(y).twice


net = torch.compile(Net())


def f(x):
    return net(x)
