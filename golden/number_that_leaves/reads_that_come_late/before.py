import torch


@torch.compile
def f(x: torch.Tensor, n: int):
    total = x.sum()
    before = total.item()
    total.add_(1.0)
    largest = bool((x > 0).any())
    x = x * 2.0
    rows = x.shape[0] * n
    rest = x - total
    print("rest", rest.shape, rows)
    return rest, before + 1.0, largest, rows
