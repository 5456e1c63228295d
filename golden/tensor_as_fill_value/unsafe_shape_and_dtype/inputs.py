import torch

ENTRY = "f"


def inputs():
    values = [torch.tensor(2.5), torch.tensor(3), torch.tensor(True), torch.tensor(float("nan"))]
    return [(x, value) for x in (torch.ones(2), torch.ones(3)) for value in values]
