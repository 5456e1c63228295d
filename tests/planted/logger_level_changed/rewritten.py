import logging

import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    logger.warning("dimensions: %d", x.dim())
    return x * 2
