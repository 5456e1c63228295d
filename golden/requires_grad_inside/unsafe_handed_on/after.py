import torch as th


class _RequiringGradient(th.autograd.Function):
    """Gives a view that requires a gradient, whatever the tensor did."""

    @staticmethod
    def forward(ctx, tensor, leaf):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


_ANY_LEAF = th.zeros((), requires_grad=True)


def _requiring_gradient(tensor):
    """The tensor after `tensor.requires_grad = True`; for torch.compile, which cannot follow that, a view of it."""
    followed = tensor.is_floating_point() and not tensor.requires_grad
    if followed and th.compiler.is_compiling():
        with th.enable_grad():
            return _RequiringGradient.apply(tensor, _ANY_LEAF)
    tensor.requires_grad = True
    return tensor


class First(th.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = th.nn.Linear(3, 3)

    def forward(self, x: th.Tensor):
        h = x.unsqueeze(1)
        if self.training:
            h = _requiring_gradient(h)
        return self.lin(h)


class Second(th.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = th.nn.ModuleList([First(), th.nn.Linear(3, 3)])
        self._requires_grad = True

    def forward(self, x: th.Tensor):
        hidden = x[None]
        if self._requires_grad and self.training:
            hidden = _requiring_gradient(hidden)
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
