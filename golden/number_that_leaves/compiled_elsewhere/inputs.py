import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [
        (torch.tensor([1.0, 2.0, -0.0]), torch.tensor([0.5, -2.5, 3.0])),
        (torch.tensor([float("nan"), float("inf")]), torch.ones(2)),
    ]
