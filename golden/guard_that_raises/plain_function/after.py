import torch


@torch.compile(dynamic=False)
def _f_graph(x: torch.Tensor, *, scale: float):
    doubled = x * scale
    # Nothing here may be NaN.
    failed = torch.isnan(x).any()
    doubled_before = doubled
    # Fine.
    doubled = doubled.sin()
    return (doubled * 2.0, scale), failed, doubled_before


def f(x: torch.Tensor, *, scale: float = 2.0) -> torch.Tensor:
    """Scale, without NaN."""
    result, failed, doubled = _f_graph(x, scale=scale)
    if failed:  # not a single one
        raise ValueError(f"NaN among {x.shape}, {doubled.dtype}")
    return result
