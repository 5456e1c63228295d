import torch

ENTRY = "both"
GRAD = True


def inputs():
    base = torch.tensor([[1.0, -0.0, float("nan")], [4.0, float("inf"), float("-inf")]])
    tensors = [base, base.t(), base.half(), torch.arange(6).reshape(2, 3) - 3.0]
    return [(tensor.detach().clone().requires_grad_(),) for tensor in tensors]
