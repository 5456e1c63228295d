import logging

import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    logger.warning("one")
    print("two")
    logger.warning("three")
    return x + 1
