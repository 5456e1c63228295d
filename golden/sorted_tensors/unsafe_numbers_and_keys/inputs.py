import torch

ENTRY = "f"


def inputs():
    rows = [[1.0, 2.0], [-3.0, -0.0], [0.0, 0.0], [float("inf"), 1.0], [float("-inf"), 1.0]]
    return [(torch.tensor(row),) for row in rows] + [(torch.ones(2, 2, dtype=torch.float16),)]
