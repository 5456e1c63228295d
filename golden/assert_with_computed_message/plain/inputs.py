import torch

ENTRY = "f"
GRAD = True


def inputs():
    made = [torch.tensor([1.0, 2.0]), torch.tensor([-1.0]), torch.tensor([1.5]), torch.tensor([float("nan")]), torch.ones(0)]
    return [(x.requires_grad_(),) for x in made]
