import functools
import logging

import torch

logger = logging.getLogger(__name__)


@functools.lru_cache(None)
def warning_once(text: str) -> None:
    logger.warning(text)


def f(x: torch.Tensor) -> torch.Tensor:
    warning_once("a step")
    return x * 2
