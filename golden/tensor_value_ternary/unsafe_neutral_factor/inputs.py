import torch

ENTRY = "brighten"
GRAD = True


def inputs():
    yield torch.tensor([[1.0, -0.0], [2.0, 3.0]]), torch.tensor([1.0, 1.0])
    yield torch.tensor([[1.0, float("nan")], [2.0, 3.0]]), torch.tensor([0.5, 1.0])
