import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    """Choose. # not a comment"""
    # Large sums double.
    if x.sum() > 0:
        # Doubled.
        return x * 2.0  # done

    # Everything else moves.
    moved = x + 1.0  # by one
    return moved * 0.5  # and halves
