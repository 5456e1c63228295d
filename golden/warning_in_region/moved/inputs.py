import torch

ENTRY = "entry"
GRAD = False


def inputs():
    return [
        (torch.tensor([1.0, float("nan")]),),
        (torch.ones(2, 2, dtype=torch.float16),),
        (torch.empty(0),),
    ]
