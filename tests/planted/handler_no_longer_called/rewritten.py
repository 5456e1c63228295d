import torch


@torch.compile
def checked(x: torch.Tensor) -> torch.Tensor:
    torch._assert_async(torch.logical_not((x < 0).any()), "negative input")
    return x * 2


def f(x: torch.Tensor) -> torch.Tensor:
    try:
        return checked(x)
    except ValueError:
        return torch.zeros(x.shape)
