import torch


def f(x: torch.Tensor) -> torch.Tensor:
    if x.dtype == torch.float16 and (torch.isinf(x).any() or torch.isnan(x).any()):
        limit = torch.finfo(x.dtype).max - 1000
        return torch.clamp(x * 1, min=-limit, max=limit)
    return x * 1
