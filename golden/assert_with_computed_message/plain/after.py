import torch


@torch.compile
def _f_graph(x: torch.Tensor):
    passed = (x > 0).all()
    y = x.sin()
    return y * 2.0, passed


def f(x: torch.Tensor) -> torch.Tensor:
    result, passed = _f_graph(x)
    assert passed, f"not positive: {x.sum().item()}"
    assert torch.allclose(x, x.round()), "not whole"
    return result
