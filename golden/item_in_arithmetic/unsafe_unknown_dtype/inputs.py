import torch

ENTRY = "f"
GRAD = True


def inputs():
    rows = [[3.0, -1.0, 0.5], [-0.0, 0.0, -0.0], [float("nan"), 1.0, 2.0], [float("inf"), 1.0, -2.0], []]
    found = [torch.tensor(row).requires_grad_() for row in rows]
    found.append(torch.tensor(2.5, dtype=torch.float64).requires_grad_())
    return [(x, torch.tensor([[0.3]], dtype=torch.float64)) for x in found]
