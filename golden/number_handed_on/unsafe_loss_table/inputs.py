import torch

ENTRY = "model"
GRAD = True


def inputs():
    tensors = [torch.linspace(-2.0, 3.0, 6).reshape(2, 3), torch.tensor([[float("nan"), 1.0]]), torch.empty(0, 4)]
    return [(x.requires_grad_(), targets) for x in tensors for targets in ([], [[1]], [[1, 2], [3, 4, 5]])]
