import torch

ENTRY = "f"
GRAD = True


def inputs():
    x = [[1.0, -0.0], [float("nan"), float("inf")]]
    return [(torch.tensor(x, requires_grad=True), torch.tensor(mask)) for mask in ([True, False], [False, False], [[True], [False]])]
