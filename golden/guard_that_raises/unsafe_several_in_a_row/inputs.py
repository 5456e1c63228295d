import torch

ENTRY = "f"
GRAD = False


def inputs():
    made = [
        torch.tensor([1.0, 2.0]),
        torch.tensor([float("nan"), 1.0]),
        torch.tensor([float("inf"), 1.0]),
        torch.tensor([-3.0, 1.0]),
        torch.tensor([300.0, 1.0]),
        torch.tensor([5000.0, 1.0]),
        torch.tensor([0.0, 0.0]),
    ]
    return [(x, 200.0) for x in made]
