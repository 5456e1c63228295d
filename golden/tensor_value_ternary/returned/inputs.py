import torch

ENTRY = "f"
GRAD = True


def inputs():
    made = [
        torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t(),
        torch.full((2, 3), -1.0)[:, ::2],
        torch.tensor([0.5]).expand(2, 3),
        torch.ones(1, 3).t(),
        torch.ones(2, 3, 4).permute(2, 0, 1),
        torch.zeros(0, 3),
        torch.tensor([[float("nan"), -0.0]]),
        torch.tensor([[float("-inf"), 1.0]]),
    ]
    return [(x.requires_grad_(),) for x in made]
