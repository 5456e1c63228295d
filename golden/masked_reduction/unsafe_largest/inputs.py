import torch

ENTRY = "f"
GRAD = True


def inputs():
    tensors = [torch.tensor([[1.0, -2.0], [0.5, 4.0]]), torch.tensor(2.0), torch.tensor([float("nan"), 3.0, 3.0, 1.0])]
    return [(tensor.detach().clone().requires_grad_(),) for tensor in tensors]
