"""Running one function eagerly and compiled in this process, whether or not it is decorated by torch.compile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo

_LIMITS = ("recompile_limit", "cache_size_limit", "accumulated_recompile_limit", "accumulated_cache_size_limit")
CALLS_COMPILED_ANEW = 10_000
"""So that Dynamo never gives a function up and runs it eagerly, which would compare nothing."""


def eagerly() -> contextlib.AbstractContextManager[Any]:
    """In this context torch.compile does nothing, also for what is compiled already."""
    stance: contextlib.AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return stance


@contextlib.contextmanager
def compiling(backend: str | Callable[..., Any]) -> Iterator[None]:
    """In this context everything that is compiled goes to `backend`, whatever its torch.compile says."""
    limits = {name: CALLS_COMPILED_ANEW for name in _LIMITS if hasattr(torch._dynamo.config, name)}
    with torch._dynamo.config.patch(limits), torch.compiler.set_stance("default", force_backend=backend):
        yield


def is_compiled(function: object) -> bool:
    """True for what torch.compile returned, and for a module whose `compile` method was called."""
    if isinstance(function, torch.nn.Module) and getattr(function, "_compiled_call_impl", None) is not None:
        return True
    return hasattr(function, "_torchdynamo_orig_callable")


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """What was given to torch.compile, or the function itself."""
    if isinstance(function, torch.nn.Module):
        inner: Callable[..., Any] = getattr(function, "_orig_mod", function)
        return inner
    return getattr(function, "_torchdynamo_orig_callable", function)


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:  # noqa: ANN401
    """The function compiled, to be called within `compiling`; what is compiled already keeps its own options."""
    if is_compiled(function) and not options:
        return function
    made: Callable[..., Any] = torch.compile(plain(function), backend="eager", **options)
    return made
