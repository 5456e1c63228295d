import torch


@torch.compile(backend="aot_eager")
def f(x, scale):
    y = x * scale
    print("tensors", x, y.sum(), f"{scale} {y.mean()!r}")
    print(f"{y.mean().item():.3f}", scale)
    print("shapes", y.shape, list(x.shape))
    return y
