"""Expressions of generated programs: tensors, numbers out of them, masks, and conditions of every spelling.

Every production is a method that gives Python source. The first choice of each is the simplest, so that hypothesis
shrinks towards it. What is drawn is mostly right, and sometimes fails for some inputs: that has to stay as it is, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

Draw = Callable[[st.SearchStrategy[int]], int]

DEEPEST = 2
"""Expressions inside of expressions."""

NUMBERS = ("0", "1.0", "2.0", "-1.0", "0.5", "3", "1e-3", "100.0")
COMPARISONS = (">", "<", ">=", "<=", "==", "!=")
ELEMENTWISE = (
    *("{t}.abs()", "torch.relu({t})", "torch.tanh({t})", "-{t}", "{t}.clone()", "torch.exp({t})", "{t}.sqrt()"),
    *("torch.log({t})", "F.relu({t})", "{t}.clamp(min=0.0)", "{t}.sigmoid()", "torch.zeros_like({t})", "1.0 / {t}"),
    *("{t}.square()", "torch.sign({t})", "{t}.reciprocal()", "torch.nan_to_num({t})", "{t}.pow(2)", "{t} ** 0.5"),
)
ALIASES = ("{t}", "{t}.view_as({t})", "{t}[...]", "{t}.detach()", "{t}.contiguous()", "{t}.to({t}.dtype)", "{t}.data")
DTYPES = ("{t}.double()", "{t}.float()", "{t}.half()", "{t}.to(torch.float64)", "{t}.long()", "{t}.type_as({t2})")
DRAWS = ("torch.rand_like({t})", "F.dropout({t}, 0.5)", "F.dropout({t}, 0.5, training=False)", "torch.randn_like({t})")
SHAPES = ("{t}.flip(-1)", "{t}.cumsum(-1)", "torch.softmax({t}, -1)", "{t}.sort(-1).values", "{t}.unsqueeze(0)[0]")
REDUCTIONS = (
    *("{t}.sum()", "{t}.mean()", "{t}.max()", "{t}.min()", "torch.sum({t})", "{t}.norm()", "{t}.abs().max()"),
    *("{t}.reshape(-1)[0]", "{t}.std()", "{t}.prod()", "torch.linalg.vector_norm({t})", "{t}.sum().detach()"),
)
QUESTIONS = ("torch.isnan({t})", "torch.isfinite({t})", "torch.isinf({t})", "~torch.isfinite({t})", "{t} != {t}")


@dataclass
class Vars:
    """The names that can be read, by what they hold."""

    tensors: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)

    def copy(self) -> Vars:
        """The same names, to be changed by a block of its own."""
        return Vars(*(list(names) for names in vars(self).values()))


@dataclass
class Style:
    """What is the same all through one program: its names for things, and what it has."""

    torch: str = "torch"
    where: str = "torch.where"
    helpers: Sequence[str] = ()
    """Functions of the program from a tensor to a tensor."""
    is_method: bool = False
    walrus: bool = True


class Expressions:
    """Draws expressions over the names at hand."""

    def __init__(self, draw: Draw, style: Style) -> None:
        self._draw = draw
        self.style = style
        self.names = Vars()
        self._counter = 0

    # -- choices ---------------------------------------------------------------------------------

    def below(self, number: int) -> int:
        """A number from 0 to below `number`."""
        return self._draw(_up_to(number - 1)) if number > 1 else 0

    def chance(self, of: int) -> bool:
        """True once in `of` times; shrinks to False."""
        return self._draw(_up_to(of - 1)) == of - 1

    def pick(self, options: Sequence[T]) -> T:
        """One of them, rather the first when shrunk."""
        return options[self.below(len(options))]

    def fresh(self, stem: str) -> str:
        """A name that nothing has."""
        self._counter += 1
        return f"{stem}{self._counter}"

    # -- values ----------------------------------------------------------------------------------

    def tensor(self, depth: int = 0) -> str:
        """A tensor of the shape of the arguments."""
        if depth >= DEEPEST:
            return self.pick(self.names.tensors)
        kind = self.below(20)
        inner = depth + 1
        if kind < 4:
            return self.pick(self.names.tensors)
        if kind < 8:
            return f"{self._operand(inner)} {self.pick('+*-')} {self.number(inner)}"
        if kind < 11:
            return f"{self._operand(inner)} {self.pick('*+-/')} {self._operand(inner)}"
        if kind < 14:
            return self._of(ELEMENTWISE, inner)
        if kind == 14:
            return f"{self.style.where}({self.mask(inner)}, {self.tensor(inner)}, {self.tensor(inner)})"
        if kind == 15:
            return f"{self._operand(inner)}.masked_fill({self.mask(inner)}, {self.pick(NUMBERS)})"
        if kind == 16:
            return f"{self._operand(inner)} {self.pick('*+/')} {self.scalar(inner)}"
        return self._unusual(inner)

    def plain(self, depth: int = 0) -> str:
        """A tensor made by ordinary arithmetic, as most are."""
        kind = self.below(6)
        if kind == 0 or depth >= DEEPEST:
            return self.pick(self.names.tensors[:3])
        if kind < 4:
            inner = self.plain(depth + 1)
            return f"{inner if inner.isidentifier() else f'({inner})'} {self.pick('+*-')} {self.pick(NUMBERS)}"
        if kind == 4:
            return f"{self.pick(self.names.tensors[:3])} {self.pick('+*-')} {self.pick(self.names.tensors[:3])}"
        return self.pick(ELEMENTWISE).format(t=self.pick(self.names.tensors[:3]))

    def plain_truth(self) -> str:
        """A question about a value of a tensor in one of the usual spellings."""
        name, kind = self.pick(self.names.tensors[:3]), self.below(6)
        reduced = self.pick(REDUCTIONS[:7]).format(t=name)
        compared = f"{reduced} {self.pick(COMPARISONS)} {self.pick(NUMBERS)}"
        if kind < 3:
            return compared
        if kind == 3:
            return f"{reduced}.item() {self.pick(COMPARISONS)} {self.pick(NUMBERS)}"
        if kind == 4:
            return f"not {compared}" if self.chance(2) else f"bool({compared})"
        return f"({name} {self.pick(COMPARISONS)} {self.pick(NUMBERS)}).{self.pick(('any', 'all'))}()"

    def scalar(self, depth: int = 0) -> str:
        """A tensor with one element."""
        kind = self.below(10)
        if kind == 0 and self.names.scalars:
            return self.pick(self.names.scalars)
        if kind < 8 or depth >= DEEPEST:
            return self._of(REDUCTIONS, depth + 1)
        if kind == 8:
            return f"({self.scalar(depth + 1)} {self.pick('+*-')} {self.pick(NUMBERS)})"
        return f"torch.abs({self.scalar(depth + 1)})"

    def mask(self, depth: int = 0) -> str:
        """A tensor of truth values, of the shape of the arguments."""
        kind = self.below(8)
        if kind == 0 and self.names.masks:
            return self.pick(self.names.masks)
        if kind < 5 or depth >= DEEPEST:
            return f"({self.tensor(depth + 1)} {self.pick(COMPARISONS)} {self.pick(NUMBERS)})"
        if kind == 5:
            return f"({self._of(QUESTIONS, depth + 1)})"
        if kind == 6:
            return f"({self.tensor(depth + 1)} {self.pick(COMPARISONS)} {self.tensor(depth + 1)})"
        return f"({self.mask(depth + 1)} {self.pick('&|')} {self.mask(depth + 1)})"

    def truth(self, depth: int = 0) -> str:
        """A tensor with one truth value."""
        kind = self.below(6)
        if kind < 2:
            return f"{self.scalar(depth + 1)} {self.pick(COMPARISONS)} {self.pick(NUMBERS)}"
        if kind < 4:
            return f"{self.mask(depth + 1)}.{self.pick(('any', 'all'))}()"
        if kind == 4:
            return f"torch.{self.pick(('any', 'all'))}({self.mask(depth + 1)})"
        return f"{self.scalar(depth + 1)} {self.pick(COMPARISONS)} {self.scalar(depth + 1)}"

    def number(self, depth: int = 0) -> str:
        """A number of Python."""
        kind = self.below(12)
        if kind < 8 or depth >= DEEPEST:
            return self.pick((*NUMBERS, *self.names.numbers))
        if kind == 8:
            return f"{self.scalar(depth + 1)}.item()"
        if kind == 9:
            return f"float({self.scalar(depth + 1)})"
        if kind == 10:
            return self.pick((*self.names.numbers, "1.0"))
        return f"math.{self.pick(('sqrt', 'exp', 'floor', 'log'))}({self.scalar(depth + 1)}.item())"

    def condition(self, depth: int = 0) -> str:
        """What can stand behind `if`: mostly a question about values of tensors."""
        kind = self.below(24)
        if kind < 7 or depth >= DEEPEST:
            return self.truth(depth)
        options: dict[int, Callable[[], str]] = {
            7: lambda: f"bool({self.truth(depth)})",
            8: lambda: f"({self.truth(depth)}).item()",
            9: lambda: f"{self.scalar(depth)}.item() {self.pick(COMPARISONS)} {self.number(DEEPEST)}",
            10: lambda: f"float({self.scalar(depth)}) {self.pick(COMPARISONS)} {self.number(DEEPEST)}",
            11: lambda: f"not {self._part(depth)}",
            12: lambda: f"{self._part(depth)} and {self._part(depth)}",
            13: lambda: f"{self._part(depth)} or {self._part(depth)}",
            14: lambda: f"{self.pick(NUMBERS)} < {self.scalar(depth)} < {self.pick(NUMBERS)}",
            15: lambda: self.static(),
            16: lambda: f"{self.static()} and {self._part(depth)}",
            17: lambda: f"{self.mask(depth)}.sum() {self.pick(COMPARISONS)} {self.pick(('0', '1', '2'))}",
            18: lambda: f"int({self.mask(depth)}.sum()) {self.pick(COMPARISONS)} {self.pick(('0', '1'))}",
            19: lambda: self.scalar(depth),
            20: lambda: f"not {self.mask(depth)}.any()",
            21: lambda: f"torch.equal({self.tensor(DEEPEST)}, {self.tensor(DEEPEST)})",
            22: lambda: self._walrus(depth),
            23: lambda: f"{self.mask(depth)}.all().item() is {self.pick(('True', 'False'))}",
        }
        return options[kind]()

    def static(self) -> str:
        """A question that Python can answer without a value of a tensor."""
        name = self.pick(self.names.tensors)
        options = [*self.names.flags, *(f"{n} > 1" for n in self.names.numbers), f"{name}.dim() > 1"]
        options += [f"{name}.dtype == torch.float32", f"{name}.numel() > 2", f"{name}.requires_grad", "DEBUG"]
        options += [f"{name}.is_floating_point()", f"isinstance({name}, torch.Tensor)"]
        if self.style.is_method:
            options.append("self.training")
        return self.pick(options)

    # -- pieces ----------------------------------------------------------------------------------

    def _operand(self, depth: int) -> str:
        text = self.tensor(depth)
        return text if text.isidentifier() else f"({text})"

    def _part(self, depth: int) -> str:
        return f"({self.condition(depth + 1)})"

    def _of(self, templates: Sequence[str], depth: int) -> str:
        template = self.pick(templates)
        names = {"t": self._operand(depth)}
        if "{t2}" in template:
            names["t2"] = self._operand(depth)
        return template.format(**names)

    def _walrus(self, depth: int) -> str:
        scalar = self.scalar(depth)
        if not self.style.walrus:
            return f"{scalar} > 0"
        name = self.fresh("w")
        self.names.scalars.append(name)
        return f"({name} := {scalar}) {self.pick(COMPARISONS)} {self.pick(NUMBERS)}"

    def _unusual(self, depth: int) -> str:
        kind = self.below(9)
        if kind < 2 and self.style.helpers:
            return f"{self.pick(self.style.helpers)}({self.tensor(depth)})"
        if kind == 2:
            return f"({self.tensor(depth)} if {self.condition(depth)} else {self.tensor(depth)})"
        if kind == 3 and self.names.lists:
            return f"sum({self.pick(self.names.lists)}, {self.tensor(DEEPEST)})"
        if kind == 4:
            return f"torch.stack([{self.tensor(depth)}, {self.tensor(depth)}]).sum(0)"
        if kind == 5 and self.style.is_method:
            return self.pick(("self.weight * {t}", "self.inner({t})", "{t} + self.bias")).format(t=self._operand(depth))
        return self._of(self.pick((ALIASES, DTYPES, DRAWS, SHAPES)), depth)


@cache
def _up_to(number: int) -> st.SearchStrategy[int]:
    return st.integers(0, number)
