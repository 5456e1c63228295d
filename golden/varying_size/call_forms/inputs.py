import torch

ENTRY = "main"
RECOMPILED = [{"function": "scaled", "dynamic": False, "calls": [{"x": (n,)} for n in (3, 5, 6, 8)]}]


def inputs():
    values = torch.tensor([-1.0, float("nan"), -0.0, 2.0, float("inf"), 0.5])
    return [([values[:3].clone(), values[:5].clone(), values],), ([values[1:5].clone(), values[:2].clone(), values[:3]],)]
