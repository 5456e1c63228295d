"""Levels of several sizes, an empty one, and a rest behind the last."""

import torch

ENTRY = "f"
GRAD = True


def inputs() -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    x = torch.arange(30.0).view(2, 15)
    x[0, 3] = float("nan")
    sizes = [((2, 3), (1, 4)), ((3, 3), (2, 2)), ((1, 1), (0, 5))]
    return [(x.clone().requires_grad_(), torch.zeros(a), torch.zeros(b)) for a, b in sizes]
