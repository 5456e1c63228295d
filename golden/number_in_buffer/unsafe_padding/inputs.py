import torch

ENTRY = "f"
GRAD = True


def inputs():
    torch.manual_seed(0)
    return [(torch.randn(2, 1, n, requires_grad=True),) for n in (1, 2, 5, 6, 7, 20)]
