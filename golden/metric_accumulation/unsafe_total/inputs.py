import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [(torch.tensor([1.0, 0.3, -0.0]),), (torch.ones(2, dtype=torch.float64),), (torch.ones(0),)]
