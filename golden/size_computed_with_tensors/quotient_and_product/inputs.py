import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [(torch.ones(size, requires_grad=True),) for size in ((4, 2, 3), (5, 3, 2), (0, 2), (3,), (1, 0))]
