import torch

ENTRY = "f"


def inputs():
    return [(torch.tensor(row),) for row in ([1, 2, 3], [0, -1, 1], [])]
