import torch

ENTRY = "f"
GRAD = True


def inputs():
    x = torch.arange(4.0, requires_grad=True)
    ids = torch.tensor([[3, 3, 2, 1], [2, 4, 1, 1]])
    grids = [torch.tensor([[2, 3], [1, 1]]), torch.tensor([[4, 2]]), torch.tensor([[1, 2], [2, 2], [3, 1]])]
    masks = [ids > 1, torch.ones_like(ids, dtype=torch.bool), ids > 9]
    return [(x, grid, ids, mask) for grid in grids for mask in masks]
