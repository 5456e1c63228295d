import torch

ENTRY = "f"
GRAD = True
MODES = [{"xs": [(2,)] * n, "mode": "a" * n} for n in (1, 2, 3)]
RECOMPILED = [
    {
        "function": "rounds",
        "calls": [{"x": (2,), "n": n} for n in (1, 2, 3)],
        "others": {"kind": "value", "source_name": "n", "values": ("1", "2", "3"), "count": 2},
    },
    {"function": "chosen", "calls": MODES, "others": {"kind": "length", "source_name": "xs", "values": ("1", "2")}},
    {
        "function": "chosen",
        "calls": MODES,
        "others": {"kind": "value", "source_name": "mode", "values": ("'a'", "'aa'", "'aaa'"), "count": 2},
    },
]


def inputs():
    return [(torch.tensor([1.0, float("nan"), -0.0, float("inf")]),), (torch.ones(2),), (torch.ones(0),)]
