import functools
import logging

import torch
from torch import nn

WINDOW = 4
logger = logging.getLogger("windows")


@functools.lru_cache(None)
def warning_once(self, *args, **kwargs):
    self.warning(*args, **kwargs)


logging.Logger.warning_once = warning_once


class Windows(nn.Module):
    def pad(self, x: torch.Tensor, window: int) -> torch.Tensor:
        length = x.shape[1]
        if length % window > 0:
            count = length // WINDOW
            logger.warning_once(f"{length} is no multiple of {WINDOW}, only {count * WINDOW} are")
            x = torch.nn.functional.pad(x, (0, -length % window))
        return x

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.pad(x.sin(), WINDOW)
        return y.cos()


module = torch.compile(Windows())


def f(x):
    return module(x)
