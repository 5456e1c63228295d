import torch

ENTRY = "f"
GRAD = False


def inputs():
    return [
        (torch.tensor([3.0, -4.0, -0.0]), 2.0),
        (torch.tensor([0.1, -0.0, 0.0]), 2.0),
        (torch.tensor([float("nan"), 1.0]), 1.0),
        (torch.tensor([float("inf"), -0.0]), 1.0),
        (torch.tensor([0.5, -float("inf")]), float("inf")),
        (torch.zeros(0), 1.0),
    ]
