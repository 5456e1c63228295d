import torch

HISTORY = []


@torch.compile
def returns_before(x: torch.Tensor, flag: bool):
    if flag:
        return x
    return x.sum().item()


@torch.compile
def computes_with_a_list(x: torch.Tensor):
    kept = [1.0]
    kept.append((x * 2.0).sum().item())
    return torch.tensor(kept)


@torch.compile
def looks_at_itself(x: torch.Tensor):
    y = x * 2.0
    number = y.sum().item()
    return number, sorted(locals())


class Base:
    def __init__(self):
        self.run = torch.compile(self.step)

    def step(self, x: torch.Tensor):
        return (x * 2.0).sum().item()


class Step(Base):
    def step(self, x: torch.Tensor):
        return (x * 3.0).sum().item()


@torch.compile
def reads_only(x: torch.Tensor):
    return x.item()


def f(x):
    return (
        returns_before(x, True),
        returns_before(x, False),
        computes_with_a_list(x),
        looks_at_itself(x),
        Step().run(x),
        reads_only(x[:1]),
    )
