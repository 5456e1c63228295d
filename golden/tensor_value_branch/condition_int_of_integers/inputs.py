import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, 2.0, 3.9], [-1.0, -2.0, -3.0], [0.0, -0.0, 5.5]]
    return [(torch.tensor(row, requires_grad=True),) for row in rows]
