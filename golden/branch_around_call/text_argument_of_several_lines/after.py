import torch


seen = {}


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    seen.setdefault(
        """kept
  for later""",
        torch.where(x.sum() > 0, x * 2.0, x * 3.0),
    )
    return seen.pop("kept\n  for later") * 3.0
