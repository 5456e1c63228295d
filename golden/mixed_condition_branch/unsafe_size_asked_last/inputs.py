import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, 2.0, 3.0], [1.0, -0.0], [-1.0, float("nan"), 2.0], [-5.0, 1.0, float("-inf")]]
    return [(torch.tensor(row, requires_grad=True),) for row in rows]
