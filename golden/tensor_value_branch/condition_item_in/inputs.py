import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[0.1], [6.0], [-0.0], [float("nan")], [float("inf")]]
    return [(torch.tensor(row, requires_grad=True),) for row in rows]
