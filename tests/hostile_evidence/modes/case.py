"""The same function under several modes: compiled and not, with gradients and without, after an error."""

import torch


class Fixed(torch.nn.Module):
    """The one that can be fixed: it runs in one mode only."""

    def forward(self, x, y):
        t = y.sum()
        if x.sum() > 0:
            z = y * 2
        else:
            z = x * 2
        return z, t


model_in_one_mode = torch.compile(Fixed(), backend="eager")


@torch.compile(backend="eager")
def _stance(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


def stance(x, y, eager):
    if not eager:
        return _stance(x, y)
    torch.compiler.set_stance("force_eager")
    try:
        return _stance(x, y)
    finally:
        torch.compiler.set_stance("default")


class Model(torch.nn.Module):
    def forward(self, x, y):
        if x.sum() > 0:
            z = y * 2
        else:
            z = x * 2
        return z


model = Model()
compiled_model = torch.compile(model, backend="eager")


def model_also_in_python(x, y, eager):
    return model(x, y) if eager else compiled_model(x, y)


def _gradients_in_python_only(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


_no_gradients_compiled = torch.compile(_gradients_in_python_only, backend="eager")


def gradients_in_python_only(x, y, eager):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    if eager:
        _gradients_in_python_only(x, y).sum().backward()
        return x.grad, y.grad
    with torch.no_grad():
        return _no_gradients_compiled(x, y)


@torch.compile(backend="eager")
def _gradients_in_some_calls(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


def gradients_in_some_calls(x, y, needed):
    x, y = x.clone(), y.clone().requires_grad_(needed)
    z = _gradients_in_some_calls(x, y)
    if z.requires_grad:
        z.sum().backward()
    return z.requires_grad, y.grad


@torch.compile(backend="eager", fullgraph=True)
def _whole_graph(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


def whole_graph_or_doubles(x, y):
    try:
        return _whole_graph(x, y)
    except Exception:
        return _whole_graph.__wrapped__(x, y.double())


@torch._dynamo.disable
def _not_compiled(x, y):
    return _in_both(x, y)


def _in_both(x, y):
    if x.sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def disabled_part(x, y):
    return _in_both(x, y) + _not_compiled(x, y.double())


def entry(name, *arguments):
    return globals()[name](*arguments)
