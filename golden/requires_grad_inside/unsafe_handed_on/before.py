import torch as th


class First(th.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = th.nn.Linear(3, 3)

    def forward(self, x: th.Tensor):
        h = x.unsqueeze(1)
        if self.training:
            h.requires_grad_(True)
        return self.lin(h)


class Second(th.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = th.nn.ModuleList([First(), th.nn.Linear(3, 3)])
        self._requires_grad = True

    def forward(self, x: th.Tensor):
        hidden = x[None]
        if self._requires_grad and self.training:
            hidden.requires_grad = True
        for layer in self.layers[1:]:
            hidden = layer(hidden)
        return hidden + self.layers[0](x)


net = th.compile(Second())
th.nn.init.ones_(net.layers[1].weight)


def f(x, training):
    net.train(training)
    net.zero_grad()
    with th.random.fork_rng():
        th.manual_seed(0)
        for p in net.parameters():
            th.nn.init.uniform_(p)
    y = net(x)
    (y * y).sum().backward()
    return y, [p.grad.clone() for p in net.parameters()], x.requires_grad
