import torch

ENTRY = "f"
GRAD = False


def inputs():
    tensors = [torch.tensor([1.0, float("nan")]), torch.tensor([1, -2])]
    return [(tensor, scale) for scale in (1.0, 0.5, 3.0) for tensor in tensors]
