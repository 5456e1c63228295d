import torch

ENTRY = "f"


def inputs():
    # 0.1 in float32 is more than 0.1 in double precision.
    rows = [[0.1], [0.0], [0.2], [float("nan")], [float("inf")]]
    return [(torch.tensor(row, dtype=dtype),) for row in rows for dtype in (torch.float32, torch.float16, torch.float64)]
