"""A program whose values are observed: many small functions, each a case of its own. Run as a script."""

# ruff: noqa: ANN001, ANN201, ANN202, ANN204

import sys

import torch

torch._dynamo.config.recompile_limit = 3
SHIFT = torch.full((3,), 2.0)
LIMIT = 4


def compiled(function):
    return torch.compile(function, backend="eager")


def positive(z, factor):
    if factor > 1 and z.sum() > 0:
        return z * factor
    return z


@compiled
def grows(x, w):
    y = x * 2
    v = y.view(-1)
    if y.sum() > 0:
        y = y + w
    return positive(y, 2) + v.sum()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("offset", torch.ones(3))
        self.scale = 2.0
        self.step = 0

    def forward(self, x):
        """Has a docstring."""
        self.step += 1
        y = self.linear(x).detach()
        if y.abs().sum() > self.step:
            return y * self.scale + self.offset
        return y + SHIFT


@compiled
def loops(x, n):
    total = x.new_zeros(())
    for i in range(n):
        if x[i].sum() > 0:
            total = total + x[i].sum()
    return total


@compiled
def without_gradient(x):
    with torch.no_grad():
        y = x * 2
        z = y.mean() if y.sum() > 0 else y.sum()
    return z + (x if x.mean() > 0 else -x).sum()


@compiled
def containers(items, options, same, x):
    items = [*items, x]
    pair = (x[:1], options["k"])
    if options["flag"] and x.sum() > 0:
        return items[0] + pair[0].sum() + same.sum()
    return x


def closure(x):
    bias = x.sum()

    def inner(y):
        return y + bias if bias > 0 else y - bias

    return inner(x)


compiled_closure = compiled(closure)


@compiled
def many_dtypes(x):
    return x + 1 if x.sum() > LIMIT else x - 1


@compiled
def nothing_first(x, flag):
    if not flag:
        return None
    return x * 2 if x.sum() > 0 else x


@compiled
def in_try(x):
    y = x.double()
    try:
        if y.sum() > 0:
            y = y + 1
    except ValueError:
        return None
    return y


@compiled
def in_place(x):
    y = x.clone()
    y.mul_(2)
    y.resize_(2, 6) if y.numel() == 12 else y
    return y + 1 if y.sum() > 0 else y


@compiled
def generator(x):
    parts = (x[i] for i in range(2))
    return next(parts) + 1 if x.sum() > 0 else next(parts)


@compiled
def prints(x):
    y = x + 1
    print("sum", float(y.sum()))
    return y * 2


def main():
    torch.manual_seed(0)
    grows(torch.ones(4, 3), torch.ones(3))
    grows(torch.ones(5, 3), torch.ones(3))
    grows(torch.ones(6, 3), torch.ones(3, dtype=torch.float64))
    grows(-torch.ones(6, 3), torch.ones(3, dtype=torch.float64))
    net = Net()
    compiled_net = compiled(net)
    for _ in range(2):
        compiled_net(torch.ones(2, 3))
    for _ in range(3):
        loops(torch.tensor([[1.0], [-1.0], [2.0]]), 3)
    with torch.no_grad():
        loops(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 2)
    without_gradient(torch.ones(3, requires_grad=True))
    x = torch.ones(3)
    containers([torch.zeros(1)], {"k": 1, "flag": True, "t": x.half()}, x, x)
    compiled_closure(torch.ones(2, 2))
    for dtype in (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.float32):
        many_dtypes(torch.ones(2, dtype=dtype))
    for flag in (False, True, True):
        nothing_first(torch.ones(2), flag)
    for _ in range(2):
        in_try(torch.ones(3))
    in_place(torch.ones(3, 4).t())
    generator(torch.ones(2, 2))
    for size in (1, 2):
        prints(torch.ones(size))


main()
print({name: dict(found) for name, found in torch._dynamo.utils.counters.items() if name != "inductor"})
sources = [found for found in list(vars(sys.modules["__main__"]).values()) if hasattr(found, "__code__")]
for found in [*sources, Net.forward]:
    code = getattr(found, "_torchdynamo_orig_callable", found).__code__
    for entry in torch._dynamo.eval_frame._debug_get_cache_entry_list(code):
        print(code.co_name, len(str(entry.guard_manager).splitlines()))
