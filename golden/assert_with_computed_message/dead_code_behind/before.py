import torch


@torch.compile(backend="eager")
def f(x: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all(), f"not positive: {x.sum().item()}"
    y = x.sin()
    return y
    assert torch.allclose(x, x.round()), "not whole"
    return y * 2.0
