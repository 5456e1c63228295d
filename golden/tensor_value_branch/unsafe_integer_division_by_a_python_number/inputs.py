import torch

ENTRY = "f"


def inputs():
    return [(torch.tensor(row), count) for count in (1, 2, 3) for row in ([1, 2, 3], [-1, 4, 5], [7, 8, 9])]
