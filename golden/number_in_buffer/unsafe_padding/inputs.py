import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [(torch.randn(2, 1, n, requires_grad=True),) for n in (1, 2, 5, 6, 7, 20)]
