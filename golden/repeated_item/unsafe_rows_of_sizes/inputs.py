"""Levels of several sizes, an empty one, and a rest behind the last."""

import torch

ENTRY = "f"
GRAD = True


def inputs() -> list[tuple[torch.Tensor, list[tuple[int, int]]]]:
    levels = [[(2, 3), (1, 4)], [(3, 3), (2, 2)], [(1, 1), (0, 5)]]
    return [(torch.arange(30.0).view(2, 15).requires_grad_(), level) for level in levels]
