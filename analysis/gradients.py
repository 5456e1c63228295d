"""Where gradients are recorded."""

from __future__ import annotations

import ast

from gbfix.analysis.names import Names

_GRADIENTS_OFF = frozenset(
    {"torch.no_grad", "torch.autograd.no_grad", "torch.inference_mode", "torch.autograd.inference_mode"}
)


_KEEPS_GRADIENT_MODE = (
    "torch.compile",
    "torch.autocast",
    "torch.amp.",
    "torch.cuda.amp.autocast",
    "torch.profiler.",
    "torch.autograd.profiler.",
    "torch.nn.attention.",
    "contextlib.nullcontext",
    "functools.wraps",
    "typing.",
)


def gradient_mode(names: Names, manager: ast.expr) -> str | None:
    """What a context manager or decorator does to gradient recording: "off", "unknown", or None for nothing.

    One that is not known to leave the mode alone may do anything.
    """
    callee = manager.func if isinstance(manager, ast.Call) else manager
    arguments = isinstance(manager, ast.Call) and bool(manager.args or manager.keywords)
    qualified = names.qualified(callee) or ""
    if qualified in _GRADIENTS_OFF:
        return "unknown" if arguments else "off"
    if qualified.startswith(_KEEPS_GRADIENT_MODE):
        return None
    return "unknown"
