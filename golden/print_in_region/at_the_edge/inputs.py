import torch

ENTRY = "f"
GRAD = True


def inputs():
    for values in ([1.0, -2.0], [-1.0, float("nan")], [float("inf"), -0.0], []):
        x = torch.tensor(values, requires_grad=True)
        yield x, torch.ones(len(values))
    yield torch.tensor(-3.0, dtype=torch.float16), torch.tensor(1.0, dtype=torch.float64)
