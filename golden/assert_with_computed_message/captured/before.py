import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    assert x.dim() == 1, f"not a vector: {x.shape}"
    assert (x > 0).all(), "not positive"
    return x.sin()
