import torch

ENTRY = "f"


def inputs():
    return [(torch.tensor([3.0, 1.0]),)]
