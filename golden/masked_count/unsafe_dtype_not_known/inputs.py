import torch

ENTRY = "f"
GRAD = True


def inputs():
    inf, nan = float("inf"), float("nan")
    base = torch.tensor([[1.0, -0.0, nan], [4.0, inf, -inf], [-2.0, 0.5, -0.5]])
    tensors = [base, -base, base.t(), base[:0], base[:, :1], base.double(), base.half(), torch.full((2, 2), -3.0)]
    tensors += [torch.tensor(2.0), torch.linspace(-3, 3, 23)]
    return [(tensor.detach().clone().requires_grad_(), tensor.detach().clone()) for tensor in tensors]
