import torch

ENTRY = "model"
GRAD = True


def inputs():
    rows = [[1.0, 2.0], [3.0, float("nan")], [0.0, -0.0]]
    return [(torch.tensor(rows, requires_grad=True), False), (torch.tensor(rows[1:], requires_grad=True), True)]
