import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = torch.tensor([[1.0, -0.0], [float("nan"), 2.0]])
    return [(rows[:size].clone().requires_grad_(), 0, training) for size in (2, 0) for training in (True, False)]
