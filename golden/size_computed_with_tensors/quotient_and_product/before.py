import torch


def flat(out: torch.Tensor):
    n = int(torch.prod(torch.tensor(out.shape[1:])))
    return out.view(out.shape[0], n)


@torch.compile
def f(x: torch.Tensor):
    half = int(torch.div(x.shape[0], 2, rounding_mode="floor"))
    third = torch.div(torch.tensor(x.size(0)), 3, rounding_mode="trunc").item()
    whole = 1 + int(torch.tensor(x.shape).prod()) * 2
    return flat(x * 2.0), x[: half + third] * whole, 1.0 / (1 + int(torch.div(x.numel(), 2, rounding_mode="floor")))
