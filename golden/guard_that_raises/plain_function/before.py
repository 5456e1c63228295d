import torch


@torch.compile(dynamic=False)
def f(x: torch.Tensor, *, scale: float = 2.0) -> torch.Tensor:
    """Scale, without NaN."""
    doubled = x * scale
    # Nothing here may be NaN.
    if torch.isnan(x).any():  # not a single one
        raise ValueError(f"NaN among {x.shape}, {doubled.dtype}")
    # Fine.
    doubled = doubled.sin()
    return doubled * 2.0, scale
