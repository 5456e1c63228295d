import contextlib

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        print("forward")
        return x * 3

    @staticmethod
    def backward(context, gradient):
        return gradient * 3


@contextlib.contextmanager
def told(text: str):
    print("enter", text)
    try:
        yield
    finally:
        print("leave", text)


def rows(x):
    for i in range(2):
        print("row", i)
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
        print("note", text)


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor, flag: bool = False) -> torch.Tensor:
        print("first")
        seen = ["a", 1]
        print("seen", seen)
        seen.append("b")
        y = torch.relu(self.inner(x))
        for i in range(2):
            y = y + i
            print(i, f"{y.detach().sum():.1f}")
        try:
            print("tried", end=".\n")
            if x.shape[0] > 2:
                raise ValueError(f"{x.shape[0]} rows")
        except ValueError:
            print("caught")
        finally:
            print("finally")
        with torch.no_grad():
            print("no gradient", y * 2)
        with told("manager"):
            y = torch.relu(Scale.apply(y))
        if flag:
            print("flag")
        for row in rows(y):
            y = torch.add(y, row)
        kept = [print("listed") for i in range(2)]
        none = print("seen", seen) if flag else None
        before = torch.relu(y).detach().clone()
        print("before", before)
        before.mul_(2)
        print("after", before.detach())
        print("last")
        return y, kept, none


model = torch.compile(Outer())
