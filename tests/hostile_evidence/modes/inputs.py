import torch

ENTRY = "entry"
GRAD = True


def ones():
    return torch.ones(3)


def doubles():
    return torch.ones(3, dtype=torch.float64)


def inputs():
    calls = []
    for x in (ones(), -ones()):
        calls += [
            ("model_in_one_mode", x, ones()),
            ("stance", x, ones(), False),
            ("model_also_in_python", x, ones(), False),
            ("gradients_in_python_only", x, ones(), False),
            ("gradients_in_some_calls", x, ones(), False),
            ("whole_graph_or_doubles", x, ones()),
            ("disabled_part", x, ones()),
        ]
    for x in (ones(), -ones()):
        calls += [
            ("stance", x, doubles(), True),
            ("model_also_in_python", x, doubles(), True),
            ("gradients_in_python_only", x, ones(), True),
            ("gradients_in_some_calls", x, ones(), True),
        ]
    return calls
