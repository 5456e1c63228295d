import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[0.1, 0.2], [0.25, 0.5], [-0.1, -0.2], [float("nan"), 1.0], [float("inf"), 1e6]]
    return [(torch.tensor(row, requires_grad=True),) for row in rows]
