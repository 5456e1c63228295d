import torch


def mean_error(errors: torch.Tensor, count, weight: float = 1.0):
    # the mean over what is counted
    return errors.sum() / count * weight


def scaled(errors: torch.Tensor, count):
    return mean_error(errors, count=count) + count * errors.exp()


@torch.compile
def f(errors: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    count = (weights > 0).float()
    count = count.sum().clamp(min=1).detach()
    total = scaled(errors, count)
    return total - errors / count
