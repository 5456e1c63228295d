import torch

ENTRY = "f"


def inputs():
    return [(torch.arange(6.0).reshape(2, 3), torch.tensor([1, 2]), torch.tensor([True, False]))]
