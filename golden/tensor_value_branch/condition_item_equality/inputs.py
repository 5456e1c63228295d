import torch

ENTRY = "f"


def inputs():
    # Not exact in float32: the tensor would call 16777216 equal.
    rows = [[16777216], [16777217], [0]]
    return [(torch.tensor(row, dtype=dtype),) for row in rows for dtype in (torch.float32, torch.int64, torch.float64)]
