import logging
import warnings

import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("x will have to be sorted", stacklevel=2)
    logger.warning("x is used as it is")
    return x + 1
