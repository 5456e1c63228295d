import torch

ENTRY = "entry"
GRAD = True


def ones():
    return torch.ones(3)


def inputs():
    i = torch.arange(1, 4)
    square = torch.ones(2, 3)
    calls = []
    for sign in (1, -1):
        x = ones() * sign
        calls += [
            ("fixed", i, x),
            ("division_of_integers", i, x),
            ("root_of_integers", i, x),
            ("quotients", i, x),
            ("softmax_under_autocast", x, ones()),
            ("cat_under_autocast", x, ones()),
            ("integers_to_a_power", i * sign, 2),
            ("integers_to_a_power_that_the_condition_reads", i, sign),
            ("integers_by_a_number", i * sign, 2),
            ("integers_by_a_tensor", i, i * sign),
            ("strides_of_one_row", torch.ones(3, 1).t() * sign, torch.ones(1, 3)),
            ("strides_of_a_sum", torch.ones(1, 3).expand(2, 3), square, x),
            ("strides_of_a_sum", square.t().contiguous().t(), square, x),
        ]
        calls += [("maximum_of_what_may_be_empty", torch.ones(size), x) for size in (5, 6, 7)]
        calls += [
            ("sizes_agree_in_some_runs", torch.ones(first), torch.ones(second), x)
            for first, second in ((32, 40), (48, 52), (64, 100))
        ]
    calls += [
        ("maximum_of_what_may_be_empty", torch.ones(2), -ones()),
        ("integers_to_a_power", -i, -1),
        ("integers_to_a_power_that_the_condition_reads", i, -2),
        ("integers_to_a_power_that_the_condition_reads", i, 3),
        ("integers_by_a_number", -i, 0),
        ("integers_by_a_tensor", i, i * 0),
    ]
    return calls
