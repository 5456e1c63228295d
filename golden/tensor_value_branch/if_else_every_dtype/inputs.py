import torch

ENTRY = "f"


def inputs():
    rows = [[1, 2, 3], [-1, -2, -3], [0, 0, 0]]
    dtypes = [torch.float32, torch.float16, torch.int64, torch.int8, torch.float64]
    return [(torch.tensor(row, dtype=dtype),) for row in rows for dtype in dtypes]
