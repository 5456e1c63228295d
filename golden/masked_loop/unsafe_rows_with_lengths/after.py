import torch


@torch.compile
def f(x: torch.Tensor, lengths: torch.Tensor):
    mask = torch.zeros(3, 4, dtype=torch.bool)
    mask.masked_fill_(torch.arange(mask.shape[1], device=mask.device) < lengths[:, None], True)
    rest = torch.ones((3, 4))
    rest.masked_fill_(torch.arange(rest.shape[1], device=rest.device) >= lengths[:, None], 0.0)
    return x * mask, x * rest
