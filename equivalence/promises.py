"""Calls that only promise a result: of generators, `map` and the like, coroutines and asynchronous generators."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any


def to_the_end(function: Callable[..., Any]) -> Callable[..., Any]:
    """Runs what a call only promises: of a generator all it yields is the result, of a coroutine what it returns."""
    logging.getLogger("asyncio").setLevel(logging.INFO)  # its loop says at a lower level that it was made

    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = function(*args, **kwargs)
        if isinstance(result, GeneratorType):
            return "generator", list(result)
        if isinstance(result, map | filter | zip):
            return type(result).__name__, list(result)
        if isinstance(result, CoroutineType):
            return "coroutine", asyncio.run(result)
        if isinstance(result, AsyncGeneratorType):
            return "async generator", asyncio.run(_all_of(result))
        return result

    return call


async def _all_of(generator: AsyncGeneratorType[Any, Any]) -> list[Any]:
    return [value async for value in generator]
