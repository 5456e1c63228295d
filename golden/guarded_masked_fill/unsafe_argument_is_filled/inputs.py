import torch

ENTRY = "f"
GRAD = True


def inputs():
    x = [[1.0, -0.0], [float("nan"), float("inf")]]
    masks = [[[True, False], [True, False]], [[False, False], [False, False]], [[True, True], [True, True]]]
    return [(torch.tensor(x, requires_grad=True), torch.tensor(mask)) for mask in masks]
