import torch

ENTRY = "f"
GRAD = True


def inputs():
    torch.manual_seed(0)
    sizes = [(8, 8), (8, 4), (12, 6), (12, 5), (20, 10)]
    return [(torch.randn(2, n, requires_grad=True), torch.randn(2, m)) for n, m in sizes]
