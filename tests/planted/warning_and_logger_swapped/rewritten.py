import logging
import warnings

import torch

logger = logging.getLogger(__name__)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    logger.warning("x is used as it is")
    warnings.warn("x will have to be sorted", stacklevel=2)
    return x + 1
