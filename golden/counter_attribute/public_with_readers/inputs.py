import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [(torch.tensor([1.0, float("nan")]),), (torch.ones(2),), (torch.ones(3, 2, dtype=torch.int64),)]
