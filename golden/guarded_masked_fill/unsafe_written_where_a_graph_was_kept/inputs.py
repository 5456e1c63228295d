import torch

ENTRY = "f"
GRAD = False


def inputs():
    base = torch.tensor([[1.0, -0.0, float("nan")], [4.0, float("inf"), float("-inf")]])
    inputs = [base, base.t(), torch.ones(2, 3).t(), torch.full((2, 2), float("nan")), base[:0], base.double(), base.half()]
    return [(tensor.detach().clone(),) for tensor in inputs]
