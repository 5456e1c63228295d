import torch

ENTRY = "f"


def inputs():
    # The tensor compares in its own dtype, where 0.1 is not more than 0.1.
    rows = [[0.1], [0.0], [0.2], [float("nan")], [float("inf")]]
    return [(torch.tensor(row, dtype=dtype),) for row in rows for dtype in (torch.float32, torch.float16, torch.float64)]
