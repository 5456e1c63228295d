import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [(torch.tensor([1.0, float("nan"), -0.0, float("inf")]),), (torch.ones(2),), (torch.ones(0),)]
