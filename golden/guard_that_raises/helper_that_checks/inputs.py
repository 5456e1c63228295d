import torch

ENTRY = "f"
GRAD = False


def inputs():
    masks = [torch.tensor([True, True]), torch.tensor([True, False]), torch.zeros(0, dtype=torch.bool)]
    return [(torch.tensor([1.0, float("nan")]), mask) for mask in masks]
