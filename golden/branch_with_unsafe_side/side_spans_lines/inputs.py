import torch

ENTRY = "f"


def inputs():
    return [(torch.tensor(row),) for row in ([1, 2, 3], [-1, 4, 5], [0, -1, 1], [-2, -3, -4])]
