import torch

ENTRY = "f"
GRAD = True


def inputs():
    tensors = [torch.linspace(-2.0, 3.0, 4), torch.tensor([1.0, float("nan"), -0.0, float("inf")])]
    weights = [torch.tensor([1.0, -1.0, 2.0]), torch.zeros(3), torch.ones(3)]
    return [(x.requires_grad_(), w.requires_grad_()) for x in tensors for w in weights]
