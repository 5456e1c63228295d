import contextlib

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        torch._higher_order_ops.print("forward")
        return x * 3

    @staticmethod
    def backward(context, gradient):
        return gradient * 3


@contextlib.contextmanager
def told(text: str):
    torch._higher_order_ops.print("enter {!s}", text)
    try:
        yield
    finally:
        torch._higher_order_ops.print("leave {!s}", text)


def rows(x):
    for i in range(2):
        torch._higher_order_ops.print("row {!s}", i)
        yield x + i


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        torch.nn.init.ones_(self.linear.weight)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, x):
        self.note("inner")
        return self.linear(x)

    def note(self, text: str):
        torch._higher_order_ops.print("note {!s}", text)


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor, flag: bool = False) -> torch.Tensor:
        torch._higher_order_ops.print("first")
        seen = ["a", 1]
        torch._higher_order_ops.print("seen {}", str(seen))
        seen.append("b")
        y = torch.relu(self.inner(x))
        for i in range(2):
            y = y + i
            torch._higher_order_ops.print("{!s} {:.1f}", i, y.detach().sum())
        try:
            torch._higher_order_ops.print("tried.")
            if x.shape[0] > 2:
                raise ValueError(f"{x.shape[0]} rows")
        except ValueError:
            torch._higher_order_ops.print("caught")
        finally:
            torch._higher_order_ops.print("finally")
        with torch.no_grad():
            torch._higher_order_ops.print("no gradient {!s}", y * 2)
        with told("manager"):
            y = torch.relu(Scale.apply(y))
        if flag:
            torch._higher_order_ops.print("flag")
        for row in rows(y):
            y = torch.add(y, row)
        kept = [torch._higher_order_ops.print("listed") for i in range(2)]
        none = torch._higher_order_ops.print("seen {}", str(seen)) if flag else None
        before = torch.relu(y).detach().clone()
        torch._higher_order_ops.print("before {!s}", before)
        before.mul_(2)
        torch._higher_order_ops.print("after {!s}", before.detach())
        torch._higher_order_ops.print("last")
        return y, kept, none


model = torch.compile(Outer())
