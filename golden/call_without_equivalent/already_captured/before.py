import contextlib
import inspect
import os

import torch


@contextlib.contextmanager
def kernels(name):
    yield name


@kernels("math")
def attention(q: torch.Tensor):
    return torch.softmax(q, -1)


class Kernel:
    pass


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.memo = None
        self.table = torch.ones(2)

    def built(self, x: torch.Tensor):
        key = x.shape
        if self.memo is not None and self.memo[0] == key:
            return self.memo[1]
        value = torch.arange(x.shape[-1]) + 0.5
        self.memo = (key, value)
        return value

    def forward(self, x: torch.Tensor):
        self.table = self.table.to(x.device)
        cached = {f"{x.shape[0]}_{x.dtype}": x}
        return attention(x) * self.built(x) + self.table + cached[f"{x.shape[0]}_{x.dtype}"]


def scale(parameters, by):
    return sum((p * by).sum() for p in parameters)


def onload(device):
    for p in linear.parameters():
        p.data = p.data.to(device)


def log(name, value):
    return len(inspect.getfullargspec(scale).args)


net = Net()
linear = torch.nn.Linear(2, 2)


@torch.compile
def f(x: torch.Tensor, use=True):
    onload(x.device)
    log("x", x)
    y = net(x) * int(os.getenv("GOLDEN_CASE", "2")) + torch.tensor([1.0, 2.0], device=x.device)
    if use and Kernel:
        y = y + scale(linear.parameters(), 2.0)
    return y * (x.shape[0] > 1)
