import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        result_of_the_branch = torch.clamp(x * 2.0, max=100.0)
    else:
        result_of_the_branch = torch.clamp(x + 1.0, max=100.0)
    return result_of_the_branch
