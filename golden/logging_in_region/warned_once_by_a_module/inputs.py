import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, float("nan")], [-0.0, 2.0], [float("inf"), 0.0]]
    return [(torch.tensor(row, requires_grad=True), training) for row in rows for training in (False, True)]
