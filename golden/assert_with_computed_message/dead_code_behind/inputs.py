import torch

ENTRY = "f"
GRAD = True


def inputs():
    return [
        (torch.tensor([1.0, 2.0], requires_grad=True),),
        (torch.tensor([1.0, -2.0]),),
        (torch.tensor([float("nan"), 1.0]),),
    ]
