import torch

ENTRY = "f"


def inputs():
    return [(torch.ones(3), n, flag) for n in (1, 3) for flag in (True, False)]
