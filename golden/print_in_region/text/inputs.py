import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, -2.0], [float("nan"), 1.0], [float("inf"), -0.0], [1e-9, 3e20], [5.0], [0.125, 7.0, 2.0]]
    floats = [(torch.tensor(row, requires_grad=True),) for row in rows]
    half = torch.tensor([1.1, 2.2], dtype=torch.bfloat16)
    return [*floats, (half, 7, "other"), (torch.tensor([[3, 4], [5, 6]]).t(), 2)]
