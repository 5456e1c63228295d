"""An exception as plain data, and who raised it: the program, torch, or the compiler."""

from __future__ import annotations

import builtins
import dis
import os
from pathlib import Path
from typing import Any

import torch

from gbfix.equivalence.model import Raised
from gbfix.equivalence.parts import dotted
from gbfix.equivalence.steady_text import without_addresses

_TORCH = str(Path(torch.__file__).parent) + os.sep
_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())
"""Which Python 3.10 has not."""
_COMPILER = ("torch._dynamo.", "torch._inductor.", "torch._functorch.", "torch._subclasses.", "torch.fx.")
_OF_THE_USER = (
    "torch._dynamo.exc.Unsupported",
    "torch._dynamo.exc.UserError",
    "torch._dynamo.exc.RecompileError",
    "torch._dynamo.exc.FailOnRecompileLimitHit",
)
"""The compiler says that it will not compile this (a break under fullgraph), not that an operation fails."""
_ADDED = ("\n\nfrom user code:", "\n\nSet TORCHDYNAMO_VERBOSE=1")
"""Where Dynamo's additions to the text of an exception begin that it met while tracing (`augment_exc_message`)."""


def raised(error: BaseException) -> Raised:
    """Describe an exception: type, whole text, what caused it, and who raised it."""
    text, added = _text(error)
    from_compiler = _is_of_compiler(error, added)
    return Raised(dotted(type(error)), text, _causes(error), from_compiler, not from_compiler and _is_of_torch(error))


def _text(error: BaseException) -> tuple[str, bool]:
    try:
        text = str(error)
    except Exception as other:
        text = f"(its text raises {type(other).__name__})"
    try:
        notes = [str(note) for note in getattr(error, "__notes__", ())]
    except Exception as other:
        notes = [f"(its notes raise {type(other).__name__})"]
    if isinstance(error, _GROUP):
        notes += [f"{dotted(type(each))}: {_text(each)[0]}" for each in error.exceptions]
    cut = min((at for mark in _ADDED if (at := text.find(mark)) >= 0), default=len(text))
    return without_addresses("\n".join([text[:cut], *notes])), cut < len(text)


def _is_of_compiler(error: BaseException, added: bool) -> bool:
    names = [dotted(kind) for kind in type(error).__mro__]
    if any(name in _OF_THE_USER for name in names):
        return False
    return added or names[0].startswith(_COMPILER)


def _is_of_torch(error: BaseException) -> bool:
    """It came out of torch (or another library's C code), not out of a `raise` statement of the program."""
    traceback = error.__traceback__
    if traceback is None or isinstance(error, SystemExit):  # sys.exit is in C, and means what a `raise` does.
        return False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    if code.co_filename.startswith(_TORCH):
        return True
    return dis.opname[code.co_code[traceback.tb_lasti]] not in ("RAISE_VARARGS", "RERAISE")


def _causes(error: BaseException) -> tuple[str, ...]:
    found: list[str] = []
    met = {id(error)}
    current: BaseException | None = error
    while current is not None:
        current = current.__cause__ if current.__cause__ or current.__suppress_context__ else current.__context__
        if current is None or id(current) in met:
            break
        met.add(id(current))
        text, added = _text(current)
        name = dotted(type(current))
        if name.startswith(_COMPILER):
            continue
        # The text of an operation is another one when it is compiled.
        own = text and not added and current.__traceback__ is not None and not _is_of_torch(current)
        found.append(f"{name}: {text}" if own else name)
    return tuple(found)
