import torch

ENTRY = "f"
GRAD = True


def inputs():
    base = torch.tensor([[1.0, -0.0, 0.0], [4.0, float("inf"), float("-inf")], [0.25, -2.0, float("nan")]])
    tensors = [base, base.t(), base.double(), base[:0], torch.linspace(-2, 2, 37)]
    return [(tensor.detach().clone().requires_grad_(),) for tensor in tensors]
