import torch

ENTRY = "f"
GRAD = True


def inputs():
    made = [torch.tensor([1.0, -0.0]), torch.tensor([-1.0, 0.0]), torch.tensor([float("nan"), 1.0])]
    return [(x.requires_grad_(), double) for x in made for double in (False, True)]
