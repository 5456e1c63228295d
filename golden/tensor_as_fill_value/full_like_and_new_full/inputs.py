import torch

ENTRY = "f"


def inputs():
    mask = torch.tensor([0, 1])
    rows = [[1.0, 2.0], [float("nan"), 1.0], [float("-inf"), -0.0]]
    found = [(torch.tensor(row), mask) for row in rows]
    found += [(torch.tensor([[1.0, 2.0]], dtype=dtype), mask) for dtype in (torch.float16, torch.bfloat16, torch.float64)]
    return [*found, (torch.ones(4)[::2], mask), (torch.ones(2, requires_grad=True), mask - 1)]
