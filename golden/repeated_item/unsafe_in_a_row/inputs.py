import torch

ENTRY = "f"
GRAD = True


def inputs():
    tensors = [torch.arange(6.0), torch.tensor([1.0, float("nan"), -0.0, float("inf"), 2.0, 3.0])]
    grids = [torch.tensor([1, 4, 6]), torch.tensor([2, 2, 4], dtype=torch.int32), torch.tensor([1, 2, 2, 9])]
    lengths = [torch.tensor([2, 4]), torch.tensor([6]), torch.tensor([1, 0, 5])]
    return [(x.requires_grad_(), g, n, 0.5) for x in tensors for g, n in zip(grids, lengths)]
