import torch

ENTRY = "f"
GRAD = True


def inputs():
    tensors = [torch.arange(6.0), torch.arange(6.0).double() - 3, torch.tensor([1.0, float("nan"), -0.0, float("inf")])]
    starts = [torch.tensor([0, 1, -2]), torch.tensor([3, 1], dtype=torch.uint8), torch.tensor([0, 0, 2], dtype=torch.int8)]
    return [(x.requires_grad_(), first, torch.arange(4)) for x in tensors for first in starts]
