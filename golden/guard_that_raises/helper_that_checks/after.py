import torch


def check(mask: torch.Tensor, name: str) -> None:
    """Raise when something is masked."""
    if not mask.all():
        raise ValueError(f"bad {name}")
    assert mask.any(), f"none in {name}"


@torch.compile
def _f_graph(x: torch.Tensor, mask: torch.Tensor):
    y = x + 1.0
    return y.sin() * 2.0


def f(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    result = _f_graph(x, mask)
    check(mask, name="mask")
    return result
