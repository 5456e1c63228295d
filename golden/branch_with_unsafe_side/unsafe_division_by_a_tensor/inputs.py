import torch

ENTRY = "f"
GRAD = True


def inputs():
    numerators = [[1.0, 0.0, -0.0], [float("inf"), -1.0, 2.0]]
    divisors = [[1.0, 2.0, 3.0], [0.0, -1.0, 0.0], [float("nan"), 1.0, 1.0], [float("inf"), 0.0, 1.0]]
    return [
        (torch.tensor(one, requires_grad=True), torch.tensor(other))
        for one in numerators
        for other in divisors
    ]
