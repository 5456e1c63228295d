import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[1.0, 2.0], [-1.0, -2.0], [float("nan"), 1.0], [float("inf"), 0.0], []]
    floating = [(torch.tensor(row, requires_grad=True),) for row in rows]
    return [*floating, (torch.ones(3, dtype=torch.bool),), (torch.ones(2, 3, dtype=torch.float16).t(),)]
