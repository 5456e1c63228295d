import torch


@torch.compile(backend="eager")
def f(x: torch.Tensor) -> torch.Tensor:
    passed = (x > 0).all()
    y = x.sin()
    assert passed, f"not positive: {x.sum().item()}"
    return y
    assert torch.allclose(x, x.round()), "not whole"
    return y * 2.0
