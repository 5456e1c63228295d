import functools
import logging

import torch
from torch import nn

logger = logging.getLogger("decoder")
LIMIT = "at most one cache"


def _in_graph(say):
    """Let graphs call a function that says something: as an operator, which runs whenever the graph runs."""
    name = f"module_{__name__.encode().hex()}::{say.__name__}"
    schema = torch.library.infer_schema(say, mutates_args=()).replace("-> ()", "-> Tensor")

    def run(*numbers):
        say(*numbers)
        return torch.empty(0)  # Inductor on CPUs misplaces an operator that neither takes nor gives a tensor.

    tags = (torch.Tag.cudagraph_unsafe,)
    operator = torch.library.custom_op(name, run, mutates_args=(), schema=schema, tags=tags)
    operator.register_fake(lambda *numbers: torch.empty(0))
    operator.register_effect(torch.library.EffectType.ORDERED)

    def speak(*numbers):
        if torch.compiler.is_dynamo_compiling():
            operator(*numbers)
        else:
            say(*numbers)

    return speak


@_in_graph
def _report_forward() -> None:
    advise(LIMIT)


@_in_graph
def _report_forward_2() -> None:
    logger.warning_once(
        "Passing a tuple is deprecated. "
        "Pass a cache instead."  # soon
    )


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
            # soon
            _report_forward_2()
            x = x + len(cache)
        for layer in self.layers:
            if self.training:
                _report_forward()
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
