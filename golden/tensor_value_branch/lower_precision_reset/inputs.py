import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, 2.0], [-1e6, 1e6], [float("nan"), 1.0], [float("inf"), 0.0], [0.0, -0.0]]
    return [(torch.tensor(row, requires_grad=True),) for row in rows]
