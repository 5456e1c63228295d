import torch


def mean_error(errors: torch.Tensor, count):
    if count > 100:
        errors = errors * 0.5
    return errors.sum() / count


@torch.compile
def f(errors: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    count = weights.sum().clamp(min=1).item()
    return mean_error(errors, count)
