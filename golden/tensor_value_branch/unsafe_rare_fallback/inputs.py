import torch

ENTRY = "chosen"
GRAD = True


def inputs():
    nan = torch.tensor([[1.0, float("nan")], [-0.0, 3.0]])
    some = torch.tensor([[True, False], [True, True]])
    yield nan, nan * 2, some
    yield nan, nan * 2, torch.ones(2, 2, dtype=torch.bool)
