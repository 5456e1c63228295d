import torch

ENTRY = "f"
GRAD = False


def inputs():
    return [(torch.ones(3),), (torch.ones(3),), (torch.ones(3, dtype=torch.float64),), (torch.ones(2, 3).double(),)]
