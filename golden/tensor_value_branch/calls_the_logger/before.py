import logging

import torch

logger = logging.getLogger("example")


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        logger.warning("positive")
        y = x * 2.0
    else:
        y = x + 1.0
    return y
