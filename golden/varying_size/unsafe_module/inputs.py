import torch

ENTRY = "main"
CALLS = [{"x": (n, 3), "mask": {"keep": (n, 3)}} for n in (2, 5)]
RECOMPILED = [{"function": "Net.forward", "compiled_at": "torch.compile(model)", "calls": CALLS}]


def inputs():
    return [(torch.tensor([[1.0, -2.0, float("nan")]] * 2), torch.full((5, 3), 0.5))]
