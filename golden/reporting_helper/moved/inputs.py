import torch

ENTRY = "entry"
GRAD = False


def inputs():
    return [
        (torch.tensor([1.0, float("nan")]), False),
        (torch.ones(2, 2), True),
        (torch.empty(0), False),
        (torch.ones(3, dtype=torch.float64), False),
    ]
