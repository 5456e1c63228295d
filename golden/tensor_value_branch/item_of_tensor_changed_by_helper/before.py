import torch


def bump(t):
    t.add_(1.0)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    state = torch.tensor(-0.5)
    value = state.item()
    bump(state)
    if value > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y + state
