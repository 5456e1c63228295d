import torch

ENTRY = "f"
GRAD = True


def inputs():
    x = torch.tensor([[1.0, -0.0], [4.0, float("nan")]])
    inputs = [x, torch.ones(2, 2), torch.full((2, 2), float("nan")), x[:0], x.double(), x.half(), x.bfloat16()]
    return [(tensor.detach().clone().requires_grad_(),) for tensor in inputs]
