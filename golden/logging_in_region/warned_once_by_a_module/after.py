import functools
import logging

import torch
from torch import nn

logger = logging.getLogger("attention")


@functools.lru_cache(None)
def warning_once(self, *args, **kwargs):
    self.warning(*args, **kwargs)


logging.Logger.warning_once = warning_once


class Attention(nn.Module):
    def __init__(self, kind: str = "flash"):
        super().__init__()
        self.kind = kind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 0.5
        result = y + 1.0
        if self.training and self.kind != "plain":
            logger.warning_once("plain attention is more stable in training")
        return result


module = torch.compile(Attention())


def f(x, training):
    module.train(training)
    return module(x)
