import functools
import logging

import torch
from torch import nn

WINDOW = 4
logger = logging.getLogger("windows")


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
def _report_pad(length: int, count: int) -> None:
    logger.warning_once(f"{length} is no multiple of {WINDOW}, only {count * WINDOW} are")


@functools.lru_cache(None)
def warning_once(self, *args, **kwargs):
    self.warning(*args, **kwargs)


logging.Logger.warning_once = warning_once


class Windows(nn.Module):
    def pad(self, x: torch.Tensor, window: int) -> torch.Tensor:
        length = x.shape[1]
        if length % window > 0:
            count = length // WINDOW
            _report_pad(length, count)
            x = torch.nn.functional.pad(x, (0, -length % window))
        return x

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.pad(x.sin(), WINDOW)
        return y.cos()


module = torch.compile(Windows())


def f(x):
    return module(x)
