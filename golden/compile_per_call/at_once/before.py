import torch

net = torch.nn.Linear(2, 2)
once = torch.compile(net)(torch.ones(2))


def f(x):
    kept = torch.compile(net)
    for _ in range(3):
        x = torch.compile(net)(x)
    return torch.compile(lambda y: y + 1.0, dynamic=True)(x), kept(x)


def g(x, y=torch.compile(net)(torch.ones(2))):
    for one in torch.compile(later)(x):
        x = torch.compile(net, mode="fastest")(one) + y
    return x


def later(x):
    return x
