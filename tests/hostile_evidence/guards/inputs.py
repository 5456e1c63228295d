import torch

ENTRY = "entry"
GRAD = True
READ_WHEN_POSITIVE = ("attribute", "module", "closure", "attribute_of_a_global", "one_tensor_under_two_names")


def ones():
    return torch.ones(3)


def doubles():
    return torch.ones(3, dtype=torch.float64)


def inputs():
    calls = [("first_call_differs", -ones(), doubles())]
    for x in (ones(), -ones()):
        calls += [
            ("fixed", x, ones()),
            ("calls_a_helper", x, ones()),
            ("attribute", x, ones()),
            ("returned_attribute", x, ones()),
            ("module", x, ones()),
            ("closure", x, ones()),
            ("attribute_of_a_global", x, ones()),
            ("one_tensor_under_two_names", x, ones()),
            ("branch_in_an_arm", ones(), x),
            ("without_dimensions", x, torch.tensor(2.0, dtype=torch.float64)),
            ("first_call_differs", x, ones()),
            ("last_call_differs", x, ones(), 150),
            ("another_layout", torch.ones(3, 3) * x, False),
        ]
    for x in (ones(), -ones()):
        calls += [
            ("helper_called_in_python", x, doubles()),
            ("returned_attribute", x, doubles()),
            ("without_dimensions", x, doubles()),
            ("last_call_differs", x, doubles(), 1),
            ("another_layout", torch.ones(3, 3) * x, True),
        ]
    calls += [(name, -ones(), doubles()) for name in READ_WHEN_POSITIVE]  # so that they are not read
    calls += [("branch_in_an_arm", -ones(), doubles()), ("branch_in_an_arm", -ones(), None)]
    calls += [("recompile_limit", ones(), number, ones()) for number in range(1, 12)]
    calls += [("recompile_limit", ones(), 12, doubles()), ("recompile_limit", ones(), 13, ones())]
    return calls
