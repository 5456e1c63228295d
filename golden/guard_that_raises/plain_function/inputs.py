import torch

ENTRY = "f"
GRAD = True


def inputs():
    made = [
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t(),
        torch.tensor([float("nan"), 1.0]),
        torch.tensor([float("inf"), -0.0]),
        torch.zeros(0, 3),
        torch.tensor(1.0),
        torch.ones(3).half(),
    ]
    return [(x.requires_grad_(),) for x in made]
