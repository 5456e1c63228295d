import dataclasses
from dataclasses import asdict

import torch
from torch import nn
from torch.cuda import nvtx


@dataclasses.dataclass
class Batch:
    a: torch.Tensor
    b: int


@dataclasses.dataclass
class Plain:
    a: int


linear = nn.Linear(4, 4)
optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4)

    def forward(self, x: torch.Tensor):
        y, _ = self.rnn(x.view(1, 1, 4))
        return y


def ranged(name, fn, *args):
    nvtx.range_push(name)
    result = fn(*args)
    nvtx.range_pop()
    return result


def fields(batch: Batch):
    return dataclasses.asdict(batch)


@torch.compile
def f(x: torch.Tensor):
    y = nn.Linear(4, 4)(x) + nn.LayerNorm(4, elementwise_affine=False)(x) + nn.ReLU()(x)
    batch = Batch(y, 2)
    d = asdict(batch)
    e = dataclasses.asdict(Plain(1))
    bias = nn.Parameter(torch.ones(4))
    optimizer.zero_grad()
    loss = (linear(x) * d["a"] + bias).sum()
    loss.backward()
    (g,) = torch.autograd.grad(loss, x)
    optimizer.step()
    same = y.data_ptr() == x.data_ptr()
    return ranged("net", Net(), x.to_sparse().to_dense()), fields(batch), e, g, same
