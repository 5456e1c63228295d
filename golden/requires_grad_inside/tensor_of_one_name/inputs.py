import torch

ENTRY = "entry"
GRAD = True


def inputs():
    special = torch.tensor([[1.0, float("nan"), -0.0, float("inf")]])
    return [
        (special, True),
        (torch.ones(2, 4), False),
        (torch.ones(3, 4), True, True),
        (torch.ones(0, 4), True),
        (torch.ones(2, 4, dtype=torch.int64), True),
    ]
