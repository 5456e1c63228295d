import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Choose. # not a comment"""
    # Large sums double.
    # Doubled.
    # done
    # Everything else moves.
    # and halves
    moved = x + 1.0  # by one
    return torch.where(x.sum() > 0, x * 2.0, moved * 0.5)
