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
        warnings.warn("this way is slow", RuntimeWarning)
    elif index.dtype != torch.int64:
        warnings.warn("index is " "converted", category=FutureWarning)
    return torch.zeros_like(x).index_add_(0, index, x)


def quiet(x: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.warn("nobody sees it")
        return x + 1.0


def pointed(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("the caller is wrong", stacklevel=2)
    return x + 1.0


@torch.compile
def f(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    y = summed(x * 2.0, index)
    return pointed(quiet(Halved.apply(y) + 1.0))
