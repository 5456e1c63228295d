import torch


@torch.compile
def _f_graph(x: torch.Tensor, n: int):
    total = x.sum()
    before = total.detach().clone()
    total.add_(1.0)
    largest = (x > 0).any()
    x = x * 2.0
    rows = x.shape[0] * n
    rest = x - total
    return before, largest, rows, rest


def f(x: torch.Tensor, n: int):
    before, largest, rows, rest = _f_graph(x, n)
    before = before.item()
    largest = bool(largest)
    print("rest", rest.shape, rows)
    return rest, before + 1.0, largest, rows
