"""Sizes that divide and that do not, and so few rows that the count is below zero."""

import torch

ENTRY = "f"
GRAD = True


def inputs() -> list[tuple[torch.Tensor]]:
    return [(torch.arange(rows * 3.0).view(rows, 3).requires_grad_(),) for rows in (8, 10, 6, 4, 2, 0)]
