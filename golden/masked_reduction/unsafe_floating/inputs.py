import torch

ENTRY = "f"
GRAD = True


def inputs():
    tensors = [torch.tensor([[1.0, -2.0], [0.5, 4.0]]), torch.full((2, 2), -3.0), torch.tensor(2.0), torch.zeros(0, 3)]
    tensors += [torch.tensor([[1.0, -2.0], [float("nan"), 4.0]]).t()]
    return [(tensor.detach().clone().requires_grad_(),) for tensor in tensors]
