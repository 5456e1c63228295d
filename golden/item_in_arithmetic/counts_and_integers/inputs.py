import torch

ENTRY = "f"
GRAD = True


def inputs():
    torch.manual_seed(0)
    rows = [[3.0, -1.0, 0.5], [-0.0, 0.0, -0.0], [float("nan"), 1.0, 2.0], [float("inf"), 1.0, -2.0], [1.0]]
    found = [torch.tensor(row) for row in rows]
    found.append(torch.randn(4, 6).t())
    found.append(torch.randn(6)[::2])
    found.append(torch.tensor(2.5))
    return [(x.clone().requires_grad_(),) for x in found]
