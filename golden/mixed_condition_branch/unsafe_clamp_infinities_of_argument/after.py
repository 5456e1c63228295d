import torch


@torch.compile
def f(h):
    if h.dtype == torch.float16:
        limit = torch.finfo(h.dtype).max - 1000
        h = torch.where(torch.isinf(h).any(), torch.clamp(h, min=-limit, max=limit), h)
    return h * 2.0
