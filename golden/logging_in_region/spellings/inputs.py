import torch

ENTRY = "entry"
GRAD = False


def inputs():
    return [
        (torch.tensor([1.0, float("nan"), -0.0]), True),
        (torch.tensor([[float("inf"), 2.0]]), False),
        (torch.empty(0, dtype=torch.float16), True),
        (torch.tensor([3, 4]), False),
    ]
