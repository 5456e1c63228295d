import torch

ENTRY = "entry"
GRAD = True
IN_THREADS = ("thread", "loop_in_a_thread", "loop_that_prints_in_a_thread", "loop_of_known_sides_in_a_thread")


def ones():
    return torch.ones(3)


def doubles():
    return torch.ones(3, dtype=torch.float64)


def inputs():
    calls = []
    for x in (ones(), -ones()):
        calls += [
            ("fixed_in_one_line", x, ones()),
            ("other_statement_before_the_branch", x, ones()),
            ("other_statement_in_an_arm", x, ones()),
            ("loop_in_one_line", x, ones(), [ones(), -doubles(), doubles()]),
            ("loop_that_calls_a_helper_in_one_line", x, [ones(), doubles(), ones()]),
            ("comprehension", x, [ones(), doubles(), ones()]),
            ("gradients_on_in_one_line", x, torch.zeros(3)),
            ("two_like_calls", x, ones()),
            ("helper_is_called_twice", x, ones(), doubles()),
            ("recursion", x, ones(), 2),
            ("generator", x, [ones(), doubles(), ones()]),
            ("loop_called_often", x, ones(), 30),
            ("loop_of_known_sides", x, ones(), 45),
            *((name, x, ones(), False) for name in IN_THREADS),
        ]
    for x in (ones(), -ones()):
        calls += [("loop_called_often", x, doubles(), 1), ("loop_of_known_sides", x, doubles(), 1)]
    for x in (ones(), -ones()):
        calls += [(name, x, doubles(), True) for name in IN_THREADS]
    return calls
