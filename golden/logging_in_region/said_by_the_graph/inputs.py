import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = torch.tensor([[1.0, -0.0], [float("nan"), 2.0], [float("inf"), 1e6]])
    settings = [(None, False), ((1, 2), False), ((1, 2), True), (None, True)]
    return [(rows[:size].requires_grad_(), *setting) for size, setting in zip((2, 3, 0, 3), settings)]
