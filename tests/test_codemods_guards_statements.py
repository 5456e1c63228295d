"""Statements behind a check that raises: a check that is said to move safely never moves behind what may fail first.

Each verdict is tried: where the check would raise, the statement must neither raise nor warn, nor draw random numbers,
whatever the arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Safety

GUARD = next(rule for rule in all_rules() if rule.code == "GBF109")
PROGRAM = """\
import torch


@torch.compile
def f(x: torch.Tensor, y, n0: int):
    h = {made}
    if x.sum() > 0:
        raise ValueError("too large")
    {statement}
    return h
"""
MADE = ("x", "x.float().reshape(2, 3)", "x.float().sum()", "torch.zeros(2, 3)")
"""What the statements use: h. y may be anything."""
TENSORS = (
    torch.full((6,), 7.0),
    torch.full((6,), 3),
    torch.full((6,), float("inf")),
    torch.full((6,), 7.0, requires_grad=True),
    torch.full((6,), 7.0, dtype=torch.float16),
    torch.full((1,), 7.0).expand(6),
)
ANYTHING = (0, -1, 2.5, None, "a", [1, 2], (1, 2, 3), True, torch.tensor(3), torch.tensor([1.0, 2.0]), torch.ones(0))
STATEMENTS = """\
a, b = y
for q in y: pass
for q in h: pass
x2 = {y: 1}
s = {y}
s = [1,2][y]
t = f"{y:03d}"
n = len(y)
n = len(h)
w = h[y:3]
u = -y
v = h + y
v = y % 2
k = y in (1,2)
k = h in (1,2)
k = 3 in y
z = "abc" + y
z = "%d" % y
m = [q for q in y]
m = (*y, 1)
m = y if y else h
del y
q = h.view(3)
q = h.reshape(y)
q = torch.zeros(y)
q = h.to(y)
q = h.sum(dim=5)
q = h.sum(5)
q = torch.cat([h, y])
q = h.expand(3)
q = h.item()
q = int(y)
q = float(h)
q = bool(h)
q = int("3")
q = range(y)
q = max(y)
q = max(y, 3)
q = h.numel() / n0
q = divmod(3, y)
q = h.shape[0]
q = h.size(1)
q = h.squeeze(3)
q = h.unsqueeze(3)
q = h.transpose(0, 1)
q = h.T
q = h.permute(0)
q = h.flatten(1)
q = h.softmax(3)
q = torch.softmax(h, dim=1)
q = h.view_as(h)
q = h << 1
q = ~h
q = h & h
q = h @ h
q = torch.arange(y)
q = torch.full((2,), y)
q = h.type(y)
q = h.half()
q = h.long()
q = h.clamp()
q = h.masked_fill(h > 0, y)
q = torch.where(h > 0, h, y)
q = torch.where(h > 0, h, 1)
q = h ** y
q = h ** -1
q = 2 ** h
q = h // 0
q = h / 0
q = h % 0
q = 5 // n0
q = h.sqrt()
q = h.norm()
q = h.mean()
q = h.max()
q = h.argmax()
q = h.max(0)
q = h.max(dim=0).values
q = h.var()
q = h.median()
q = h.std()
q = h.sort()
q = h.topk(2)
q = h.chunk(2)
q = h.split(2)
q = h.unbind()
q, r = h.unbind()
q = h.repeat(2)
q = h.tile(2)
q = h.any()
q = h.all()
q = h.cumsum(0)
q = h.diff()
q = torch.stack([h, h])
q = torch.nn.functional.relu(h)
q = torch.nn.functional.linear(h, h)
q = torch.nn.functional.dropout(h, 2.0)
q = torch.nn.functional.one_hot(h)
q = torch.nn.functional.layer_norm(h, (3,))
q = h.requires_grad_()
q = h.detach()
q = h.numpy()
q = h.tolist()
q = h.cpu()
q = h.cuda()
q = h.new_zeros(3)
q = h.new_zeros(y)
q = h.bool()
q = h.data
q = h.grad
q = h.real
q = h.imag
q = h.mT
q = h.H
q = h.dtype
q = h.stride(0)
q = h.nelement()
q = h.is_contiguous()
q = h.contiguous()
q = h.clone()
q = torch.zeros_like(h)
q = torch.empty_like(h)
q = torch.linspace(0, 1, y)
q = torch.eye(3)
q = torch.tensor(y)
q = torch.tensor([1.0])
q = torch.as_tensor(y)
q = getattr(h, "foo")
q = hasattr(h, "foo")
q = isinstance(h, y)
q = isinstance(h, torch.Tensor)
q = type(h)
q = str(h)
q = repr(y)
q = sum(y)
q = abs(y)
q = round(y)
q = sorted(y)
q = list(y)
q = tuple(y)
q = dict(y)
q = zip(y, y)
q = enumerate(y)
q = min(1, 2)
q = (lambda: y)()
q = y()
q = y.foo
q = y[0]
q = not y
q = y or h
q = y is None
q = y == 1
q = y < 1
q = 1 < y < 3
h += y
h[0] = 1
h[y] = 1
y[0] = 1
y.foo = 1
import notthere
assert y
assert h.shape
while y: break
with y: pass
with torch.no_grad(): pass
with torch.autocast("cpu"): pass
q = h.sum(dtype=torch.int32)
q = h.bitwise_and(1)
q = h.log()
q = h.det()
q = h.trace()
q = h.diag()
q = h.tril()
q = h.triu()
q = h.roll(1)
q = h.flip(0)
q = h.flip(1)
q = h.rot90()
q = h.movedim(0, 1)
q = h.swapaxes(0, 1)
q = h.narrow(0, 0, 2)
q = h.select(0, 0)
q = h.index_select(0, y)
q = h.take(y)
q = h.gather(0, y)
q = h.nonzero()
q = h.unique()
q = h.bincount()
q = h.histc()
q = h.multinomial(1)
q = h.bernoulli()
q = h.normal_()
q = h.uniform_()
q = h.random_()
q = torch.rand(3)
q = torch.randint(0, y, (3,))
q = torch.bernoulli(h)
q = torch.einsum("i,i->", h, h)
q = torch.outer(h, h)
q = torch.dot(h, h)
q = torch.mm(h, h)
q = torch.bmm(h, h)
q = torch.matmul(h, h)
q = torch.cdist(h, h)
q = torch.fft.fft(h)
q = torch.linalg.norm(h)
q = h.pow(2)
q = h.pow(0.5)
q = h.add(y)
q = h.add(h, alpha=y)
q = h.mul(2)
q = h.div(2, rounding_mode="floor")
q = h.div(2, rounding_mode="foo")
q = h.round(decimals=2)
q = h.clamp(min=y)
q = h.clamp(0, 1)
q = h.lerp(h, 0.5)
q = h.addcmul(h, h)
q = h.isnan()
q = h.isinf()
q = h.sign()
q = h.floor()
q = h.logical_not()
q = h.eq(1)
q = h.ne(y)
q = h.gt(0)
q = h.float().mean()
q = h.to(torch.int8)
q = h.to("cpu")
q = h.to(h.dtype)
q = h.amax()
q = h.amin(0)
q = h.logsumexp(0)
q = h.prod()
q = h.count_nonzero()
q = h.argsort()
q = h.kthvalue(1)
q = h.mode()
q = h.quantile(0.5)
q = h.nanmean()
q = h.log_softmax(0)
q = h.log_softmax(-1)
q = h.unfold(0, 1, 1)
q = h.as_strided((1,), (1,))
q = h.view(torch.int32)
q = h.view(-1)
q = h.reshape(-1)
q = h.ravel()
q = h.unflatten(0, (1, -1))
"""


def _is_safe(made: str, statement: str) -> bool:
    project = load([parse("m.py", PROGRAM.format(made=made, statement=statement))])
    return any(finding.safety is Safety.SAFE for finding in GUARD.find(project.view("m.py")))


def _wrong(made: str, statement: str) -> str:
    """What the statement does for some arguments that the check refuses; "" when it only computes."""
    run: dict[str, Any] = {"torch": torch}
    exec(f"def run(h, y, n0):\n    {statement}", run)
    make: Callable[[torch.Tensor], torch.Tensor] = eval(f"lambda x: {made}", {"torch": torch})
    for x in TENSORS:
        for y in ANYTHING:
            before = torch.get_rng_state()
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                h = make(x)
                try:
                    run["run"](h, y, 3)
                except Exception as error:
                    return f"{x.dtype}, {y}: {type(error).__name__}: {error}"
            if seen:
                return f"{x.dtype}, {y}: warns: {seen[0].message}"
            if not torch.equal(before, torch.get_rng_state()):
                return "draws random numbers"
    return ""


@pytest.mark.parametrize("made", MADE)
def test_no_check_moves_behind_what_may_fail_first(made: str) -> None:
    safe = [statement for statement in STATEMENTS.splitlines() if _is_safe(made, statement)]
    assert safe
    assert {statement: wrong for statement in safe if (wrong := _wrong(made, statement))} == {}
