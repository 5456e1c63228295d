import torch

ENTRY = "entry"
GRAD = False


def inputs():
    return [(torch.tensor([1.0, float("nan"), -0.0, float("inf")]),), (torch.ones(3),), (torch.ones(0),)]
