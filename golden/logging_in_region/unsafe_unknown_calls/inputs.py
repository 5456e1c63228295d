import torch

ENTRY = "entry"
GRAD = False


def inputs():
    return [
        (torch.ones(2, 3, requires_grad=True), torch.ones(2, 3)),
        (torch.full((1, 3), float("nan"), requires_grad=True), torch.ones(1, 3)),
        (torch.ones(0, 3, requires_grad=True), torch.ones(0, 3)),
    ]
