import torch

ENTRY = "f"
GRAD = False


def inputs():
    return [(torch.ones(2), 0.5, torch.tensor(0.5)), (torch.tensor([float("nan")]), 0.0, torch.tensor(0.0))]
