import torch

ENTRY = "f"


def inputs():
    return [(torch.randn(n),) for n in (1, 4)]
