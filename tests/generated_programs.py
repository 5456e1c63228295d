"""Small nasty PyTorch programs for property tests: what gbfix rewrites of them must do what they did.

A program is a file with a function `entry` and some calls of it. The pieces come from `generated_statements`; this
module puts functions, modules, closures, decorators and names around them.
"""

from __future__ import annotations

from dataclasses import dataclass

from generated_expressions import Draw, Style
from generated_inputs import DTYPES, LAYOUTS, SHAPES, VALUES
from generated_statements import Lines, Statements, _indented
from hypothesis import strategies as st

HEADER = """\
import functools
import logging
import math
import random
import sys
import warnings
from contextlib import suppress

import torch
import torch.nn.functional as F
from torch import where

logger = logging.getLogger("program")
STATE = {"calls": 0}
SEEN = []
DEBUG = False


"""
USED = {
    "MyError": "class MyError(Exception):\n    pass\n\n",
    "report(": 'def report(value):\n    print("report", tuple(value.shape))\n\n',
    "log(": 'def log(number):\n    logger.info("number %s", number)\n\n',
    "@doubled": """\
def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

""",
}
"""What is put into a program that uses it."""

HELPERS = {
    "double": ["return t * 2.0"],
    "shifted": ['"""Adds one."""', "y = t + 1.0", "return y"],
    "clipped": ["if t.max() > 1.0:", "    t = t / t.max()", "return t"],
    "written": ["t.add_(1.0)", "return t"],
    "noisy": ['print("noisy")', "return t"],
    "drawn": ["return t + torch.rand_like(t)"],
    "early": ["if t.sum() > 0:", "    return t", "return -t"],
    "counted": ["STATE['calls'] += 1", "return t.clone()"],
    "checked": ["if torch.isnan(t).any():", '    raise ValueError("nan")', "return t.relu()"],
    "same": ["return t"],
}
SHADOWS = (
    "def print(*values, **options):\n    SEEN.append(len(values))",
    "def where(condition, one, other):\n    return one + other",
    "class torch_like:\n    where = staticmethod(lambda c, a, b: b)",
    "int = float",
    "any = all",
)
COMPILED = (
    '@torch.compile(backend="eager")',
    '@torch.compile(backend="eager", dynamic=True)',
    '@functools.partial(torch.compile, backend="eager")',
)
AROUND = ("@torch.no_grad()", "@torch.enable_grad()", "@doubled", "@torch.inference_mode()")
MODULE = """\
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(1.5))
        self.inner = torch.nn.ReLU()
        self.register_buffer("bias", torch.tensor(0.5))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
        self.calls = 0
        self.total = 0
        self.last = None
"""
PARAMETERS = ("x", "y")


@dataclass(frozen=True)
class GeneratedProgram:
    """The text of a file, and the arguments of calls of its entry, each as the source of `(args, kwargs)`.

    setup: what has to run for that source to mean something, "" for `generated_inputs`. is_observed: it is rewritten in
    the light of what these calls show, as after `gbfix trace`.
    """

    text: str
    calls: tuple[str, ...]
    entry: str = "entry"
    setup: str = ""
    is_observed: bool = False


@st.composite
def programs(draw: st.DrawFn) -> GeneratedProgram:
    """A program in the territory of the rules."""
    return program_from(draw)


def program_from(draw: Draw) -> GeneratedProgram:
    """A program by a function that draws numbers."""
    return _Program(draw).made()


class _Program:
    def __init__(self, draw: Draw) -> None:
        self._style = Style()
        self._make = Statements(draw, self._style)

    def made(self) -> GeneratedProgram:
        make = self._make
        helpers = [name for name in HELPERS if make.chance(4)]
        self._style.helpers = helpers
        form = make.below(10)
        self._style.is_method = form in (3, 4, 5)
        shadow = [make.pick(SHADOWS) + "\n"] if make.chance(12) else []
        signature = self._signature()
        entry = self._entry(form, signature)
        own = [
            _function(name, ["t: torch.Tensor" if make.chance(2) else "t"], HELPERS[name])
            for name in helpers
            if any(f"{name}(" in part for part in entry)
        ]
        parts = [HEADER, *used_by("\n".join(entry)), *own, *shadow, *entry]
        # Where every call has the same kinds of arguments, a run shows what holds for all of them.
        alike = (make.pick(SHAPES[:2]), make.pick(("float32", *DTYPES)), make.chance(2)) if make.chance(2) else None
        calls = tuple(self._call(alike) for _ in range(4))
        is_observed = alike is not None and make.chance(2)
        return GeneratedProgram(self._laid_out("\n".join(parts)), calls, is_observed=is_observed)

    # -- the function ----------------------------------------------------------------------------

    def _signature(self) -> list[str]:
        make = self._make
        annotated = not make.chance(5)
        kind = ": torch.Tensor" if annotated else ""
        make.names.tensors += PARAMETERS
        make.names.numbers.append("n")
        make.names.flags.append("flag")
        signature = [f"x{kind}", f"y{kind}"]
        if make.chance(6):
            signature.append("*")
        return [*signature, "flag: bool = True" if annotated else "flag=True", "n: int = 2" if annotated else "n=2"]

    def _body(self) -> Lines:
        make = self._make
        lines: Lines = ['"""Does it, x.item() and all."""'] if make.chance(8) else []
        if make.chance(16):
            lines.append("global DEBUG")
            lines.append("DEBUG = not DEBUG")
        if make.chance(2):
            lines += make.statement()
        lines += make.branch() if make.chance(3) else make.statement()
        for _ in range(make.below(3)):
            lines += make.statement()
        return [*lines, f"return {make.returned()}"]

    def _entry(self, form: int, signature: list[str]) -> list[str]:
        make = self._make
        compiled = make.pick(COMPILED)
        decorators = [compiled]
        if make.chance(4):
            decorators.append(make.pick(AROUND))
        if make.chance(16):
            decorators.reverse()
        body = self._body()
        if form == 3:  # a module that is compiled as a whole
            return [
                MODULE + "\n" + _indent(_function("forward", ["self", *signature], body)),
                'model = torch.compile(Model(), backend="eager")\n\n',
                _function("entry", ["x", "y", "flag=True", "n=2"], ["return model(x, y, flag=flag, n=n)"]),
            ]
        if form in (4, 5):  # a method that is compiled
            return [
                MODULE + "\n" + _indent(_function("forward", ["self", *signature], body, decorators)),
                "model = Model()\n\n",
                _function("entry", ["x", "y", "flag=True", "n=2"], ["return model(x, y, flag=flag, n=n)"]),
            ]
        if form == 6:
            return [_function("step", signature, body), 'entry = torch.compile(step, backend="eager")\n']
        if form == 7:  # a closure of a function that makes it
            inner = _function("step", signature, body, decorators)
            factory = ["scale = 2.0", *inner.rstrip("\n").split("\n"), "return step"]
            return [_function("make", [], factory), "entry = make()\n"]
        if form == 8:
            return [
                _function("step", signature, body, decorators),
                _function(
                    "entry",
                    ["x", "y", "flag=True", "n=2"],
                    ["z = x * 1.0", "out = step(z, y, flag=flag, n=n)", "return out, z"],
                ),
            ]
        if form == 9 and make.chance(2):
            word = make.pick(("async def", "def"))
            lines = body if word == "async def" else [line.replace("return ", "yield ", 1) for line in body]
            text = _function("entry", signature, lines, decorators)
            return [text.replace("def entry", f"{word} entry")]
        return [_function("entry", signature, body, decorators)]

    # -- around it -------------------------------------------------------------------------------

    def _call(self, alike: tuple[str, str, bool] | None) -> str:
        make = self._make
        shape, dtype, grad = alike or (
            make.pick(("(4,)", "(2, 3)", "(4,)", "(2, 3)", *SHAPES)),
            make.pick(("float32", "float32", "float32", "float32", *DTYPES)),
            make.chance(2),
        )
        one = self._tensor(shape, dtype, grad, 1)
        kind = make.below(8) if alike is None else 0
        if kind == 6:
            other_shape, other_dtype = make.pick(SHAPES), make.pick(DTYPES)
            other = self._tensor(other_shape, other_dtype, grad, 2)
        else:
            other = self._tensor(shape, dtype, grad and (alike is not None or make.chance(2)), 2)
        options = f"{{'flag': {make.pick(('True', 'False'))}, 'n': {make.pick(('2', '0', '1', '3'))}}}"
        if kind == 7:
            return f"(lambda a: ((a, a), {options}))({one})"
        return f"(({one}, {other}), {options})"

    def _tensor(self, shape: str, dtype: str, grad: bool, seed: int) -> str:
        make = self._make
        layout = make.pick(("plain", "plain", "plain", *LAYOUTS))
        text = f"tensor({make.pick(VALUES)!r}, {shape}, {dtype!r}"
        text += ", grad=True" if grad else ""
        return f"{text}, layout={layout!r}, seed={seed})" if layout != "plain" else f"{text}, seed={seed})"

    def _laid_out(self, text: str) -> str:
        make = self._make
        kind = make.below(24)
        if kind == 20:
            text = text.replace("import torch\n", "import torch\nimport torch as th\n", 1)
            head, _, rest = text.partition("DEBUG = False")
            text = head + "DEBUG = False" + rest.replace("torch.", "th.")
        if kind == 21:
            return "\n".join(_tabbed(line) for line in text.split("\n"))
        if kind == 22:
            return text.replace("\n", "\r\n")
        return text.rstrip("\n") if kind == 23 else text


def used_by(text: str) -> list[str]:
    """The definitions that a text of generated statements needs."""
    return [definition for name, definition in USED.items() if name in text]


def _function(name: str, parameters: list[str], body: Lines, decorators: Lines = []) -> str:  # noqa: B006
    head = "\n".join([*decorators, f"def {name}({', '.join(parameters)}):"])
    return "\n".join(["", head, *_indented(body), "", ""])


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else line for line in text.split("\n"))


def _tabbed(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return "\t" * (blanks // 4) + " " * (blanks % 4) + line[blanks:]
