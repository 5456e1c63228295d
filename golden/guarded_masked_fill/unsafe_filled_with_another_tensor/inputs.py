import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, float("nan")], [1.0, -0.0], [float("inf"), 2.0]]
    return [(torch.tensor(row, requires_grad=True), torch.tensor([5.0, 6.0])) for row in rows]
