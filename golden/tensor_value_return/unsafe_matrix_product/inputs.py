import torch

ENTRY = "f"
GRAD = True


def inputs():
    made = [torch.ones(2, 2), -torch.ones(2, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()]
    return [(x.requires_grad_(),) for x in made]
