import torch
from torch import compile as build

net = torch.nn.Linear(2, 2)
build(net, dynamic=True)


def f(x):
    torch.compile(net)
    kept = torch.compile(net)
    return net(x), kept(x)
