import torch

ENTRY = "f"
GRAD = True


def inputs():
    special = torch.tensor([[1.0, float("nan"), -0.0, float("inf"), 2.0]])
    return [
        (special,),
        (torch.ones(2, 4), torch.tensor([4, 3])),
        (torch.ones(2, 6).half(), torch.tensor([9, 2])),
        (torch.ones(2, 3),),
        (torch.ones(0, 4),),
    ]
