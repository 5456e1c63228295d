import torch

ENTRY = "f"
GRAD = True


def inputs():
    square = [[1.0, -0.0], [float("nan"), float("inf")]]
    bases = [torch.tensor(square), torch.ones(2, 2), torch.zeros(1, 2).expand(2, 2)]
    return [(base.t().requires_grad_(), flag) for flag in (True, False) for base in bases]
