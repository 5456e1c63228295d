import torch

ENTRY = "f"


def inputs():
    return [(torch.ones(3),), (-torch.ones(3),)]
