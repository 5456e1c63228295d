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
            ("control", x, ones()),
            ("other_statement_before_the_branch", x, ones()),
            ("other_statement_in_an_arm", x, ones()),
            ("loop", x, ones(), [ones(), -doubles(), doubles()]),
            ("loop_that_calls_a_helper", x, [ones(), doubles(), ones()]),
            ("comprehension", x, [ones(), doubles(), ones()]),
            ("gradients_on_in_one_line", x, torch.zeros(3)),
        ]
    return calls
