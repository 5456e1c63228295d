import logging

import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    print("two")
    logger.warning("one")
    logger.warning("three")
    return x + 1
