import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = torch.tensor([[1.0, -0.0], [float("nan"), 2.0], [float("inf"), 1e6]])
    rates = [(0.0, True), (-0.0, True)]
    return [(rows.clone().requires_grad_(), *rate) for rate in rates]
