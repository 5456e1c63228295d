"""What a version of PyTorch captures into a graph by itself.

What it captures needs no rewriting, and a replacement that it does not capture is none: rules ask for both by the
name of a probe, which is a small program that was, or is, compiled with that version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gbfix.engine.dataclass import dataclass

PROBES: Mapping[str, str] = {
    "item": """
def f(x):
    return x * x.sum().item()
""",
    "0-d index": """
def f(x):
    return x[x.argmax()] * 2
""",
    "print": """
def f(x):
    y = x + 1
    print("y")
    return y * 2
""",
    "logging": """
import logging
def f(x):
    y = x + 1
    logging.getLogger("probe").debug("y")
    return y * 2
""",
    "warnings.warn": """
import warnings
def f(x):
    y = x + 1
    warnings.warn("y", stacklevel=2)
    return y * 2
""",
    "torch._higher_order_ops.print": """
import torch._higher_order_ops
def f(x):
    y = x + 1
    torch._higher_order_ops.print("y {!s}", y)
    return y * 2
""",
    "operator with an effect": """
import torch
def say() -> None:
    pass
operator = torch.library.custom_op("gbfix_probe::say", say, mutates_args=(), tags=(torch.Tag.cudagraph_unsafe,))
operator.register_fake(lambda: None)
operator.register_effect(torch.library.EffectType.ORDERED)
def f(x):
    y = x + 1
    if torch.compiler.is_dynamo_compiling():
        operator()
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
    "number of a NumPy draw": """
import numpy as np
def f(x):
    return x * np.random.rand(1).item()
""",
    "drawn index": """
import random
def f(x):
    return x[random.randint(0, 0)] + 1
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
    "copy.deepcopy of a tensor": """
import copy
def f(x):
    return copy.deepcopy(x) * 2
""",
    "copy.copy of a container": """
import copy
def f(x):
    return copy.copy([x])[0] * copy.copy({"a": 2})["a"]
""",
    "copying methods of containers": """
def f(x):
    return [x].copy()[0] * {"a": 2}.copy()["a"] * len({1, 2}.copy())
""",
    "full_like with a tensor": """
import torch
def f(x):
    return torch.full_like(x, x.sum()) * 2
""",
    "new_full with a tensor": """
def f(x):
    return x.new_full((2,), x.sum()) * 2
""",
    "fill_ with a tensor": """
import torch
def f(x):
    return torch.empty_like(x).fill_(x.detach().sum().reshape(())) * 2
""",
    "requires_grad set to False": """
import torch
def f(x):
    t = torch.zeros(2)
    t.requires_grad = False
    return t + x
""",
    "requires_grad_ set to False": """
import torch
def f(x):
    t = torch.zeros(2).requires_grad_(False)
    return t + x
""",
    "requires_grad_ of parameters": """
import torch
linear = torch.nn.Linear(2, 2)
def f(x):
    linear.requires_grad_(False)
    for p in linear.parameters():
        p.requires_grad_(False)
    return linear(x)
""",
    "requires_grad set to True": """
import torch
def f(x):
    t = torch.zeros(2)
    t.requires_grad_()
    return t + x
""",
    "a function of autograd that requires a gradient": """
import torch
leaf = torch.zeros((), requires_grad=True)
class Requiring(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t, other):
        return t.view_as(t)
    @staticmethod
    def backward(ctx, g):
        return g, None
def f(x):
    t = x[:, None]
    if torch.compiler.is_compiling() and not t.requires_grad and t.is_floating_point():
        with torch.enable_grad():
            t = Requiring.apply(t, leaf)
    return t * 2
""",
    "torch.get_default_device": """
import torch
def f(x):
    return x + torch.ones(2, device=torch.get_default_device())
""",
    "device of an empty tensor": """
import torch
def f(x):
    return x + torch.ones(2, device=torch.empty(0).device)
""",
    "class statement": """
def f(x):
    class Two:
        value = 2
    return x * Two.value
""",
    "torch._check with a formatted message": """
import torch
def f(x):
    torch._check(x.shape[0] > 1, lambda: f"{x.shape[0]} rows")
    return x * 2
""",
    "text of open sizes": """
DYNAMIC = True
def f(x):
    held = {str(tuple(x.shape)): x}
    return held[str(tuple(x.shape))] * 2
""",
    "size compared with a tensor": """
import torch
two = torch.tensor(2)
def f(x):
    return x * 2 if x.shape[0] <= two else x + 1
""",
    "operator that raises": """
import torch
@torch.library.custom_op("gbfix_probe::check", mutates_args=(), tags=(torch.Tag.cudagraph_unsafe,))
def check(x: torch.Tensor) -> None:
    if x.isnan().any():
        raise ValueError("NaN")
check.register_fake(lambda x: None)
check.register_effect(torch.library.EffectType.ORDERED)
def f(x):
    y = x + 1
    check(y)
    return y * 2
""",
    "comparison of sizes as a flag": """
import torch
t = torch.ones(3, 4, 8)
torch._dynamo.mark_dynamic(t, 1)
def f(x):
    flag = t.shape[1] > 1
    return torch.nn.functional.scaled_dot_product_attention(t, t, t, is_causal=flag) * x.sum()
""",
    "buffer set to a tensor": """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Buffer(torch.ones(2))
    def forward(self, x):
        self.table = self.table.to(x.device)
        return x * self.table
f = Net()
""",
    "torch._check_tensor_all": """
import torch
def f(x):
    torch._check_tensor_all(x == x)
    return x * 2
""",
    "torch._assert_async": """
import torch
def f(x):
    torch._assert_async((x == x).all(), "NaN")
    return x * 2
""",
    "torch._check with a text": """
import torch
def f(x):
    torch._check(x.shape[0] > 1, "too few rows")
    return x * 2
""",
    "sorted of tensors": """
def f(x):
    return sorted([x[0], x[1]])[0] * 2
""",
    "sorted by a tensor": """
def f(x):
    return sorted([x, x + 1], key=lambda t: t.sum())[0] * 2
""",
    "max by a tensor": """
def f(x):
    return max([x, x + 1], key=lambda t: t.sum()) * 2
""",
    "module with parameters": """
import torch
def f(x):
    return torch.nn.Linear(2, 2)(x)
""",
    "dataclasses.asdict of tensors": """
import dataclasses
import torch
@dataclasses.dataclass
class Pair:
    a: torch.Tensor
def f(x):
    return dataclasses.asdict(Pair(x))["a"] * 2
""",
    "torch.nn.Parameter of a new tensor": """
import torch
def f(x):
    return torch.nn.Parameter(torch.ones(2)) * x
""",
    "torch.cuda.nvtx.range_push": """
import torch
def f(x):
    torch.cuda.nvtx.range_push("a")
    y = x * 2
    torch.cuda.nvtx.range_pop()
    return y
""",
    "torch.autograd.grad": """
import torch
def f(x):
    w = x.detach().requires_grad_()
    return torch.autograd.grad((w * w).sum(), w)[0]
""",
    "Tensor.backward": """
import torch
w = torch.ones(2, requires_grad=True)
def f(x):
    (x * w).sum().backward()
    return x * 2
""",
    "step of an optimizer": """
import torch
linear = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(linear.parameters(), 0.1)
def f(x):
    y = linear(x)
    optimizer.step()
    return y * 2
""",
    "sparse tensor": """
def f(x):
    return x.to_sparse().to_dense() * 2
""",
    "comparison of data_ptr": """
def f(x):
    y = x + 1
    return y * 2 if y.data_ptr() == x.data_ptr() else y
""",
    "LSTM": """
import torch
lstm = torch.nn.LSTM(2, 2)
def f(x):
    return lstm(x[None])[0] * 2
""",
    "int of a tensor of sizes": """
import torch
def f(x):
    return x[: int(torch.div(x.shape[0], 2, rounding_mode="floor"))] * 2
""",
    "x[mask]": """
def f(x):
    y = x[x > 0].sum()
    return y * 2
""",
}
"""The programs, by name: each defines `f`, called with one float tensor of two elements."""

CAPTURED_IN_2_13 = frozenset(
    {
        "copying methods of containers",
        "fill_ with a tensor",
        "requires_grad_ set to False",
        "device of an empty tensor",
        "a function of autograd that requires a gradient",
        "torch._higher_order_ops.print",
        "operator that raises",
        "torch._assert_async",
        "operator with an effect",
    }
)
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
