import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    result_of_the_branch = torch.where(
        x.sum() > 0,
        torch.clamp(x * 2.0, max=100.0),
        torch.clamp(x + 1.0, max=100.0),
    )
    return result_of_the_branch
