import torch


def helper(x: torch.Tensor):
    mask = torch.zeros_like(x)
    mask.requires_grad = False  # not learned
    return mask


@torch.compile
def f(x: torch.Tensor, wide: bool):
    t = torch.empty(2, device=x.device)
    if wide:
        t.requires_grad = False
    t.fill_(1.0)
    y = (x * 2.0).detach()
    y.requires_grad = False
    for _ in range(2):
        ones = torch.ones(2)
        ones.requires_grad = False
        t = t + ones
    return t + x * 3.0 + y + helper(x)
