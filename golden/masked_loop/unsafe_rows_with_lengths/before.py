import torch


@torch.compile
def f(x: torch.Tensor, lengths: torch.Tensor):
    mask = torch.zeros(3, 4, dtype=torch.bool)
    for i in range(3):
        mask[i, : lengths[i]] = True
    rest = torch.ones((3, 4))
    for row, length in enumerate(lengths.tolist()):
        rest[row, length:] = 0.0
    return x * mask, x * rest
