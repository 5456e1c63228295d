import torch

ENTRY = "f"
GRAD = True


def inputs():
    x = torch.arange(24.0).reshape(2, 3, 4)
    row = torch.tensor([1.0, -0.0, float("nan"), 4.0])
    some, none = torch.tensor([[0, 1, 5], [2, 2, 7]]), torch.full((2, 3), 9)
    return [
        (x.clone().requires_grad_(), some, row),
        (x.clone().requires_grad_(), none, row),
        (x.half(), some, row),
        (x.double(), none, row),
    ]
