import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, -0.0, 70000.0], [float("nan"), 1.0, 2.0], [1.0, 2.0, -3.0], [float("-inf"), float("inf"), 0.0]]
    dtypes = (torch.float16, torch.float32)
    return [(torch.tensor(row, dtype=dtype, requires_grad=True),) for dtype in dtypes for row in rows]
