import torch

ENTRY = "f"
GRAD = True


def inputs():
    index = torch.tensor([0, 2, 2])
    rows = torch.tensor([[1.0, -0.0], [float("nan"), 2.0], [float("inf"), 1e6]])
    return [(rows.requires_grad_(), index), (torch.zeros(0, 2), index[:0])]
