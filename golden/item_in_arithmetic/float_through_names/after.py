import torch


@torch.compile
def f(x: torch.Tensor):
    y = x.float() * 2.0
    largest = y.max().detach().double()
    half = largest * 0.5  # of the range
    shifted = y - half.to(y.dtype)
    if x.dim() > 0:
        shifted = shifted * largest.to(shifted.dtype)
    return shifted, y > y.mean().detach().double().to(y.dtype), (-half).to(y.dtype) - y
