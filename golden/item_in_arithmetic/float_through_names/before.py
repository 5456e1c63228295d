import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float() * 2.0
    largest = y.max().item()
    half = largest * 0.5  # of the range
    shifted = y - half
    if x.dim() > 0:
        shifted = shifted * largest
    return shifted, y > y.mean().item(), -half - y
