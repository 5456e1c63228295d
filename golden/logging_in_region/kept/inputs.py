import torch

ENTRY = "entry"
GRAD = False


def inputs():
    return [
        (torch.tensor([1.0, float("nan"), -0.0]), 1),
        (torch.tensor([float("inf"), 2.0]), 2),
        (torch.ones(3, 2).t(), 0),
        (torch.ones(2, dtype=torch.float16), 5),
    ]
