import torch


@torch.compile
def f(x: torch.Tensor, k: float):
    a = int(torch.div(x.shape[0], k, rounding_mode="floor"))
    b = int(torch.div(x.sum(), 2, rounding_mode="floor"))
    c = int(torch.div(x.shape[0], 2, rounding_mode=None))
    n = torch.prod(torch.tensor(x.shape))
    return x * a * b * c, x.view(n), n, b
