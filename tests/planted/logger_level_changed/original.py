import logging

import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    logger.info("dimensions: %d", x.dim())
    return x * 2
