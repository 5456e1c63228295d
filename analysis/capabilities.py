"""What a version of PyTorch captures into a graph by itself.

What it captures needs no rewriting, and a replacement that it does not capture is none: rules ask for both by the
name of a probe, which is a small program that was, or is, compiled with that version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

PROBES: Mapping[str, str] = {
    "print": """
def f(x):
    y = x + 1
    print("y")
    return y * 2
""",
    "torch._higher_order_ops.print": """
import torch._higher_order_ops
def f(x):
    y = x + 1
    torch._higher_order_ops.print("y {!s}", y)
    return y * 2
""",
    "torch.compiler.mark_dynamic": """
import torch
mark = torch.compiler.mark_dynamic
def f(x):
    return x * 2
""",
    "zlib.crc32": """
import zlib
def f(x):
    y = x + 1
    return y * (zlib.crc32(b"a") % 7)
""",
    "decimal.Decimal": """
import decimal
def f(x):
    y = x + 1
    return y * float(decimal.Decimal("1.5"))
""",
    "random.random": """
import random
def f(x):
    y = x + 1
    return y * random.random()
""",
    "random.choice": """
import random
def f(x):
    y = x + 1
    return y * random.choice([1.0, 2.0])
""",
    "time.time": """
import time
def f(x):
    y = x + 1
    return y * time.time()
""",
    "open": """
import os
def f(x):
    y = x + 1
    return y * len(open(os.devnull).read())
""",
}
"""The programs, by name: each defines `f`, called with one float tensor of two elements."""

CAPTURED_IN_2_13 = frozenset({"torch._higher_order_ops.print"})
"""The probes that PyTorch 2.13 captures without a graph break; a test runs them with the installed version."""


@dataclass(frozen=True)
class Torch:
    """A version of PyTorch, and a way to learn whether it captures a probe's program without a break."""

    version: str
    ask: Callable[[str], bool]

    def captures(self, probe: str) -> bool:
        """True when the probe's program becomes one graph. Raises KeyError for an unknown probe."""
        if probe not in PROBES:
            raise KeyError(probe)
        return self.ask(probe)


KNOWN = Torch("2.13.0", CAPTURED_IN_2_13.__contains__)
"""PyTorch as it was measured, for where none is installed."""
