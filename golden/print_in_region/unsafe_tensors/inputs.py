import torch

ENTRY = "f"
GRAD = False


def inputs():
    tensors = [torch.arange(6.0).reshape(2, 3).t(), torch.zeros(0), torch.tensor(2.5), torch.tensor([float("nan")])]
    return [(tensor, scale) for tensor in tensors for scale in (2, 0.5, torch.tensor(3.0))]
