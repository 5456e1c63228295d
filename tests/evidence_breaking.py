"""A program with one function for each kind of graph break; a comment after "BREAK" says what is expected there.

Run as a script it compiles and calls each of them; a line may be expected to break with several ids.
"""

from __future__ import annotations

import copy
import json
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

log = logging.getLogger("breaking")
log.addHandler(logging.NullHandler())


def message(x: Tensor) -> Tensor:
    y = x + 1
    print("between")  # BREAK GB0059
    return y * 2


def message_with_value(x: Tensor) -> Tensor:
    y = x + 1
    print(f"{y.sum().item():.1f}")  # BREAK GB0124 GB0059
    return y * 2


def scalar(x: Tensor) -> Tensor:
    return x * float(x.sum())  # BREAK GB0124


def branch(x: Tensor) -> Tensor:
    y = x + 1
    if (
        y.sum() > 0  # BREAK GB0170
    ):
        y = y - 1
    return y


def until(x: Tensor) -> Tensor:
    while x.sum() < 10:  # BREAK GB0170
        x = x + 4
    return x


def selected(x: Tensor) -> Tensor:
    return x[x > 0].sum()  # BREAK GB0036


def logged(x: Tensor) -> Tensor:
    y = x + 1
    log.info("value")  # BREAK GB0291
    return y * 2


def warned(x: Tensor) -> Tensor:
    y = x + 1
    warnings.warn("careful", stacklevel=1)  # BREAK GB0007
    return y * 2


def timed(x: Tensor) -> Tensor:
    y = x + 1
    time.time()  # BREAK GB0007
    return y * 2


def written(x: Tensor) -> Tensor:
    y = x + 1
    sys.stdout.write("text\n")  # BREAK GB0156
    return y * 2


def listed(x: Tensor) -> Tensor:
    return x * x.tolist()[0]  # BREAK GB0109


def in_a_loop(x: Tensor) -> Tensor:
    for i in range(3):
        x = x + i
        print("step")  # BREAK GB0059 skipped
    return x


def in_a_try(x: Tensor) -> Tensor:
    try:
        x = x + 1
        print("tried")  # BREAK GB0059 skipped
    finally:
        x = x * 2
    return x


@contextmanager
def section() -> Iterator[None]:
    yield


def in_a_context(x: Tensor) -> Tensor:
    with section():
        x = x + 1
        print("inside")  # BREAK GB0059 skipped
    return x


def with_a_class(x: Tensor) -> Tensor:
    class Local:  # BREAK GB8977
        scale = 2

    return x * Local.scale


def helper(x: Tensor) -> Tensor:
    print("helped")  # BREAK GB0059
    return x * 3


def outer(x: Tensor) -> Tensor:
    return helper(x + 1) - 1


def through_helpers(x: Tensor) -> Tensor:
    return outer(x) * 2


def copied(x: Tensor) -> Tensor:
    y = x + 1
    return copy.deepcopy(y) * 2  # BREAK GB4198


def dumped(x: Tensor) -> Tensor:
    y = x + 1
    json.dumps({"a": 1})  # BREAK GB0156
    return y * 2


def asked_for(x: Tensor) -> Tensor:
    y = x + 1
    torch._dynamo.graph_break()  # BREAK GB0025
    return y * 2


@torch.compiler.disable
def left_alone(x: Tensor) -> Tensor:
    return x * 3


def calls_disabled(x: Tensor) -> Tensor:
    return left_alone(x + 1) * 2  # BREAK GB0098


def trained(x: Tensor) -> Tensor:
    y = (x * WEIGHT).sum()
    y.backward()  # BREAK GB0123
    return y.detach()


WEIGHT = nn.Parameter(torch.ones(3))


def one_graph_or_none(x: Tensor) -> Tensor:
    return x + 1 if x.sum() > 0 else x  # BREAK GB0170 fullgraph


def main() -> None:
    functions = (
        message,
        message_with_value,
        scalar,
        branch,
        until,
        selected,
        logged,
        warned,
        timed,
        written,
        listed,
        in_a_loop,
        in_a_try,
        in_a_context,
        with_a_class,
        through_helpers,
        copied,
        dumped,
        asked_for,
        calls_disabled,
        trained,
    )
    for function in functions:
        torch.compile(function, backend="eager")(torch.ones(3))
    try:
        torch.compile(one_graph_or_none, backend="eager", fullgraph=True)(torch.ones(3))
    except RuntimeError:
        print("no graph")


if __name__ == "__main__":
    main()
