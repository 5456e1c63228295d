import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [(torch.tensor([1.0, float("nan")], requires_grad=True),), (torch.ones(3),)]
