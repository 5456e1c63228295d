import functools
import logging

import torch
from torch import nn

logger = logging.getLogger("decoder")
LIMIT = "at most one cache"


@functools.lru_cache(None)
def warning_once(self, *args, **kwargs):
    self.warning(*args, **kwargs)


logging.Logger.warning_once = warning_once


@functools.cache
def advise(text):
    logger.warning(text)


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))

    def forward(self, x: torch.Tensor, cache: tuple | None) -> torch.Tensor:
        if cache is not None:
            logger.warning_once(
                "Passing a tuple is deprecated. "
                "Pass a cache instead."  # soon
            )
            x = x + len(cache)
        for layer in self.layers:
            if self.training:
                advise(LIMIT)
            x = layer(x)
            if x.shape[0] > 2:
                continue
            x = x * 2.0
        return x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.decoder = Decoder()

    def forward(self, x: torch.Tensor, cache: tuple | None) -> torch.Tensor:
        return self.decoder(x.sin(), cache).cos()


module = torch.compile(Model())


def f(x, cache, training):
    module.train(training)
    return module(x, cache)
