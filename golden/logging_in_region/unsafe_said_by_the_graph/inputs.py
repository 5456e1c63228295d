import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = torch.tensor([[1.0, -0.0], [float("nan"), 2.0], [float("inf"), 1e6]])
    return [(rows[:size].requires_grad_(), flag) for size in (2, 3, 0) for flag in (False, True)]
