import warnings

import torch


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        if x.dtype != torch.float16:
            warnings.warn("x becomes half")
        return x.half() * 2

    @staticmethod
    def backward(context, gradient):
        return gradient.float() * 2


def summed(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    if not x.is_cuda:
        warnings.warn("this way is slow")
    return torch.zeros_like(x).index_add_(0, index, x)


@torch.compile
def f(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    y = summed(x * 2.0, index)
    return Halved.apply(y) + 1.0
