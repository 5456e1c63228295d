import torch


@torch.compile
def f(x: torch.Tensor, ok):
    torch._check(x.shape[0] > 1, "too few rows")
    torch._check(ok, lambda: f"{x.shape[0]} rows")
    torch._check(x.sum().item() > 0, lambda: f"{x.shape[0]} rows")
    torch._check(x.shape[0] > 0, lambda: "no rows")
    done = torch._check(x.shape[0] > 1, lambda: f"{x.shape[0]} rows")
    return x + 1.0, done
