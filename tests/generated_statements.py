"""Statements of generated programs: branches, loops, messages, checks, writes in place, and what stands around them."""

from __future__ import annotations

from collections.abc import Callable

from generated_expressions import NUMBERS, Expressions

Lines = list[str]
DEEPEST_BLOCK = 2
COMMENTS = ("# keep me", "# TODO: x.item() > 0", '# "quoted" {braces}', "# type: ignore", "# noqa: E501", "# ä ≠ ü")
WRITES = ("{t}.add_(1.0)", "{t}.mul_({t2})", "{t}.zero_()", "{t}[0] = 0.0", "{t}.clamp_(max=1.0)", "{t}.copy_({t2})")
ERRORS = ("ValueError", "RuntimeError", "AssertionError", "MyError")
TEXTS = (
    '"too large"',
    "'not finite'",
    'f"bad {n}"',
    '"sum: %s" % n',
    '"a" "b"',
    '"""long\n    text"""',
    '"{}".format(n)',
)
MESSAGES = (
    *('print("step")', "print('a', 1)", "logger.info('step %d', n)", 'logger.warning("seen")', "print()"),
    *('warnings.warn("careful")', 'print(f"n is {n}")', "print({t}.shape)", 'logger.debug("x %s", {t}.dtype)'),
    *("print({s})", 'print(f"{{{s}}}")', 'print("sum", {s}.item())', 'logger.info(f"max {{{s}:.3f}}")', "report({t})"),
    *("print({t})", 'print("x", n, sep="-", end="")', "print('err', file=sys.stderr)", "log(n)", "print(*[1, n])"),
)
PYTHON = (
    *("{a}, {b} = {t}", "{a}, {b} = {t}.shape", "{a}, {b} = 1, n", "{a}, *{b} = {t}.shape", "{a} = (*{t}, 1)"),
    *("for {a} in {t}: pass", "for {a} in {t}.shape: pass", "for {a}, {b} in enumerate([n]): pass"),
    *("{a} = {{{t}: 1}}", "{a} = {{n: {t}}}", "{a} = {{n, 1}}", "{a} = {{str(n): [n]}}", "{a} = {{[n]}}"),
    *("{a} = f'{{{t}:.2f}}'", "{a} = f'{{n:03d}}'", "{a} = f'{{n:.1f}}'", "{a} = f'{{flag!r:>8}}'", "{a} = f'{{n}}'"),
    *("{a} = {t} in (1, 2)", "{a} = n in [1, 2]", "{a} = 3 in {t}", "{a} = 'calls' in STATE", "{a} = n in 'abc'"),
    *(
        "{a} = {t}.item()",
        "{a} = float({t})",
        "{a} = len({t})",
        "{a} = {t}.tolist()",
        "{a} = 10 // n",
        "{a} = [1, 2][n]",
    ),
    *("{a} = isinstance({t}, torch.Tensor)", "{a} = isinstance(n, (int, float))", "{a} = isinstance(n, flag)"),
    *("{a} = 1 < n < 3", "{a} = 0 < {t} < 3", "{a} = not {t}", "{a} = {t} or n", "{a} = {t} if {t2} else n"),
    *("{a} = flag and n", "assert n", "assert flag, n", "if {t}: pass", "while not {t}.shape: break"),
    *(
        "import math",
        "import nowhere",
        "with suppress(ValueError): pass",
        "with torch.no_grad(): pass",
        "with flag: pass",
    ),
    *(
        "{a} = {t}[0]",
        "{a} = {t}[n]",
        "{a} = {t}.shape[1]",
        "{a} = {t} @ {t2}",
        "{a} = STATE['missing']",
        "{a} = n.real",
    ),
)
"""What Python does with values, which fails for some of them; {a} and {b} are new names."""


class Statements(Expressions):
    """Draws statements, as lines without indentation of their own."""

    def block(self, depth: int, most: int = 2) -> Lines:
        """The statements of a body whose names nobody sees afterwards."""
        kept, self.names = self.names, self.names.copy()
        lines = [line for _ in range(1 + self.below(most)) for line in self.statement(depth)]
        self.names = kept
        return lines

    def statement(self, depth: int = 0) -> Lines:
        """One statement, perhaps with a comment."""
        kinds: list[tuple[int, Callable[[int], Lines]]] = [
            (10, self._branch),
            (6, lambda _depth: self._assignment()),
            (2, lambda _depth: self._guard()),
            (3, lambda _depth: self._message()),
            (2, lambda _depth: self._write()),
            (2, lambda _depth: self._masked()),
            (2, lambda _depth: self._reading()),
            (2, self._loop),
            (1, lambda _depth: [f"{self.pick(self.names.tensors)} = {self.tensor()}"]),
            (1, self._attempt),
            (1, self._context),
            (1, lambda _depth: self._closure()),
            (1, lambda _depth: self._collection()),
            (1, lambda _depth: self._alias()),
            (1, lambda _depth: self._effect()),
            (1, lambda _depth: self._draw_of_python()),
            (2, lambda _depth: self._python()),
        ]
        if depth >= DEEPEST_BLOCK:
            kinds = kinds[1:2] + kinds[3:6]
        lines = self._weighted(kinds)(depth)
        return self._commented(lines)

    def branch(self, depth: int = 0) -> Lines:
        """A branch that only assigns, the most common thing to find."""
        target = self.pick(self.names.tensors) if self.chance(2) else self.fresh("v")
        is_new = target not in self.names.tensors
        if self.below(3) < 2:
            side, test = self.plain, self.plain_truth
        else:
            side, test = self.tensor, self.condition
        with_else = is_new or not self.chance(3)
        lines = self._if(depth, lambda: [f"{target} = {side()}"], with_else=with_else, test=test)
        if is_new:
            self.names.tensors.append(target)
        return lines

    # -- branches --------------------------------------------------------------------------------

    def _branch(self, depth: int) -> Lines:
        kind = self.below(12)
        if kind < 6:
            return self.branch(depth)
        if kind == 6:
            return self._if(depth, lambda: self.block(depth + 1), with_else=self.chance(2))
        if kind == 7:
            return self._if(depth, lambda: [f"return {self.returned()}"], with_else=self.chance(2))
        if kind == 8:
            name = self.pick(self.names.tensors)
            return self._if(depth, lambda: [f"{name} {self.pick('+*-')}= {self.tensor()}"], with_else=self.chance(2))
        if kind == 9:
            name = self.fresh("v")
            self.names.tensors.append(name)
            return [f"{name} = {self.tensor(1)} if {self.condition()} else {self.tensor(1)}"]
        if kind == 10:
            return self._two_targets(depth)
        name = self.pick(self.names.tensors)
        return [f"if {self.condition()}: {name} = {self.tensor()}"]

    def _if(
        self, depth: int, side: Callable[[], Lines], *, with_else: bool, test: Callable[[], str] | None = None
    ) -> Lines:
        text = self._test((test or self.condition)())
        lines = [f"if {text}:{self._trailing()}", *_indented(self._side(depth, side))]
        for _ in range(2):
            if self.chance(6):
                lines += [f"elif {self.condition(1)}:", *_indented(self._side(depth, side))]
        if with_else:
            lines += [f"else:{self._trailing()}", *_indented(self._side(depth, side))]
        return lines

    def _side(self, depth: int, side: Callable[[], Lines]) -> Lines:
        """What a side does; now and then more than that."""
        kind = self.below(20)
        if depth < DEEPEST_BLOCK and kind == 9:
            return [*self.statement(depth + 1), *side()]
        if depth < DEEPEST_BLOCK and kind == 10:
            return self._if(depth + 1, side, with_else=True)
        if kind == 11:
            return [*side(), *self._message()] if self.chance(2) else [*side(), "pass"]
        if kind == 8:
            name = self.fresh("t")
            return [f"{name} = {self.tensor()}", *side()]
        return side()

    def _python(self) -> Lines:
        """Something that Python does with values."""
        names = {"a": self.fresh("p"), "b": self.fresh("p")}
        return [self.pick(PYTHON).format(t=self.pick(self.names.tensors), t2=self.pick(self.names.tensors), **names)]

    def _two_targets(self, depth: int) -> Lines:
        one, other = self.fresh("v"), self.fresh("v")
        if self.chance(2):
            lines = self._if(depth, lambda: [f"{one}, {other} = {self.tensor(1)}, {self.tensor(1)}"], with_else=True)
        else:
            lines = self._if(
                depth, lambda: [f"{one} = {self.tensor(1)}", f"{other} = {self.tensor(1)}"], with_else=True
            )
        self.names.tensors += [one, other]
        return lines

    def _test(self, text: str) -> str:
        kind = self.below(10)
        if kind == 8:
            return f"({text})"
        if kind == 9:
            return f"(\n    {text}  # why\n)"
        return text

    # -- others ----------------------------------------------------------------------------------

    def _assignment(self) -> Lines:
        kind = self.below(10)
        if kind < 3:
            name, text = self.fresh("v"), self.tensor()
            self.names.tensors.append(name)
        elif kind == 3:
            name, text = self.fresh("s"), self.scalar()
            self.names.scalars.append(name)
        elif kind == 4:
            name, text = self.fresh("m"), self.mask()
            self.names.masks.append(name)
        elif kind == 5:
            name, text = self.fresh("k"), self.number()
            self.names.numbers.append(name)
        elif kind == 6:
            name, text = self.fresh("c"), self.condition()
            self.names.flags.append(name)
        elif kind == 7:
            name, text = self.pick(self.names.tensors), self.tensor()
        elif kind == 8:
            return [f"{self.pick(self.names.tensors)} {self.pick('+*-/')}= {self.tensor(1)}"]
        else:
            name, text = self.fresh("v"), self.tensor()
            self.names.tensors.append(name)
            return [f"{name} = other = {text}"] if self.chance(2) else [f"{name}: torch.Tensor = {text}"]
        return [f"{name} = {text}"]

    def _guard(self) -> Lines:
        kind = self.below(5)
        error = f"{self.pick(ERRORS)}({self.pick(TEXTS)})"
        if kind < 2:
            return [f"if {self._test(self.condition())}:", f"    raise {error}"]
        if kind == 2:
            return [f"assert {self.condition()}, {self.pick(TEXTS)}"]
        if kind == 3:
            return [f"assert {self.condition()}"]
        return [f"if {self.condition()}:", *_indented(self._message()), f"    raise {error} from None"]

    def _message(self) -> Lines:
        text = self.pick(MESSAGES)
        if "{" not in text.replace("{n}", ""):
            return [text]
        filled = text.replace("{t}", self.pick(self.names.tensors))
        if "{s}" in filled:
            filled = filled.replace("{s}", self.scalar(2))
        return [filled.replace("{{", "{").replace("}}", "}")]

    def _write(self) -> Lines:
        template = self.pick(WRITES)
        written, read = self.pick(self.names.tensors), self.pick(self.names.tensors)
        if self.chance(3):
            return [f"{written}[{self.mask()}] = {self.pick(NUMBERS)}"]
        return [template.format(t=written, t2=read)]

    def _masked(self) -> Lines:
        """A question about a mask, and a fill, a sum or a count with it."""
        name, mask = self.pick(self.names.tensors), self.fresh("m")
        lines = [f"{mask} = {self.mask()}"]
        self.names.masks.append(mask)
        kind = self.below(6)
        if kind == 0:
            lines += [f"if {mask}.any():", f"    {name} = {name}.masked_fill({mask}, {self.pick(NUMBERS)})"]
        elif kind == 1:
            lines += [f"if {mask}.any():", f"    {name}[{mask}] = {self.pick(NUMBERS)}"]
        elif kind == 2:
            lines += [f"{self._new_scalar()} = {name}[{mask}].{self.pick(('sum', 'mean', 'max', 'min'))}()"]
        elif kind == 3:
            lines += [f"{self._new_number()} = len({name}[{mask}])"]
        elif kind == 4:
            lines += [f"{self._new_number()} = {mask}.nonzero().shape[0]"]
        else:
            lines += [f"{name}[{mask}] = {self.tensor(1)}[{mask}]"]
        return lines

    def _reading(self) -> Lines:
        """A number that is read out of a tensor."""
        kind = self.below(7)
        name = self.pick(self.names.tensors)
        if kind < 2:
            return [f"{name} = {self.tensor(1)} {self.pick('*+-/')} {self.scalar(1)}.item()"]
        if kind == 2:
            number = self._new_number()
            lines = [f"{number} = {self.scalar(1)}.item()"]
            return [*lines, f"{name} = {self.tensor(1)} {self.pick('*+')} {number}"]
        if kind == 3:
            return [f"{name} = {name} * math.{self.pick(('sqrt', 'exp', 'fabs'))}({self.scalar(1)}.item())"]
        if kind == 4:
            return [f"{self._new_scalar()} = {name}.reshape(-1)[{self.mask(2)}.sum().item() % 2]"]
        if kind == 5:
            pair = self.fresh("p")
            return [f"{pair} = {name}.reshape(-1)", f"{name} = {name} * {pair}[0].item() + {pair}[1].item()"]
        return [f"{self._new_scalar()} = torch.full_like({self.scalar(2)}, {self.scalar(2)}.item())"]

    def _loop(self, depth: int) -> Lines:
        kind = self.below(6)
        if kind < 2:
            index = self.fresh("i")
            self.names.numbers.append(index)
            lines = [f"for {index} in range({self.pick(('2', '3', 'n', '0'))}):", *_indented(self.block(depth + 1))]
            return [*lines, "else:", *_indented(self.block(depth + 1))] if self.chance(8) else lines
        if kind == 2:
            name = self.pick(self.names.tensors)
            return [f"for {self.fresh('_')} in range(4):", f"    if {self.condition()}:", "        break",
                    f"    {name} = {self.tensor()}"]  # fmt: skip
        if kind == 3:
            name, left = self.pick(self.names.tensors), self.fresh("left")
            lines = [f"{left} = 3", f"while {left} and {self._part(1)}:", f"    {left} -= 1"]
            return [*lines, f"    {name} = {self.tensor()}"]
        if kind == 4:
            row = self.fresh("row")
            return [f"for {row} in {self.pick(self.names.tensors)}:", f"    if {row}.sum() > 0:", "        continue",
                    *_indented(self._message())]  # fmt: skip
        name, index = self.pick(self.names.tensors), self.fresh("i")
        return [f"for {index}, {self.fresh('e')} in enumerate([{self.tensor(1)}, {self.tensor(1)}]):",
                *_indented(self.branch(depth + 1))]  # fmt: skip

    def _attempt(self, depth: int) -> Lines:
        lines = ["try:", *_indented(self.block(depth + 1))]
        kind = self.below(4)
        if kind < 2:
            caught = self.pick(("ValueError", "Exception", "RuntimeError", "(ValueError, AssertionError)"))
            lines += [f"except {caught}:", *_indented(self.block(depth + 1, 1))]
        if kind == 1:
            lines += ["else:", *_indented(self.block(depth + 1, 1))]
        if kind >= 2 or self.chance(4):
            lines += ["finally:", *_indented(self.block(depth + 1, 1))]
        return lines

    def _context(self, depth: int) -> Lines:
        manager = self.pick(
            (
                "torch.no_grad()",
                "torch.enable_grad()",
                "torch.autograd.set_detect_anomaly(False)",
                "suppress(ValueError)",
            )
        )
        return [f"with {manager}:", *_indented(self.block(depth + 1))]

    def _closure(self) -> Lines:
        name, kind = self.fresh("inner"), self.below(4)
        read, given = self.pick(self.names.tensors), self.fresh("a")
        if kind == 0:
            lines = [f"{name} = lambda {given}: {given} * 2.0 + {read}"]
        elif kind == 1:
            lines = [f"def {name}({given}):", f"    return {given} if {self.condition()} else {given} + 1.0"]
        elif kind == 2:
            lines = [f"def {name}({given}, scale={self.number(2)}):", f"    nonlocal {read}", f"    {read} = {given}",
                     f"    return {given} * scale"]  # fmt: skip
        else:
            lines = [f"def {name}({given}):", f"    if {given}.sum() > 0:", f"        {given} = {given} * 2.0",
                     f"    return {given} + {read}"]  # fmt: skip
        result = self.fresh("v")
        lines.append(f"{result} = {name}({self.tensor(1)})")
        self.names.tensors.append(result)
        return lines

    def _collection(self) -> Lines:
        name, kind = self.fresh("items"), self.below(4)
        if kind == 0:
            lines = [f"{name} = [{self.tensor(1)}, {self.tensor(1)}]"]
        elif kind == 1:
            lines = [f"{name} = [{self.pick(self.names.tensors)} * i for i in range(n)]"]
        elif kind == 2:
            lines = [f"{name} = [x for x in ({self.tensor(1)}, {self.tensor(1)}) if x.sum() > 0]"]
        else:
            lines = [f"{name} = []", f"{name}.append({self.tensor(1)})", f"if {self.condition()}:",
                     f"    {name}.append({self.tensor(1)})"]  # fmt: skip
        self.names.lists.append(name)
        return lines

    def _alias(self) -> Lines:
        name, base = self.fresh("v"), self.pick(self.names.tensors)
        text = self.pick((f"{base}", f"{base}.detach()", f"{base}.view_as({base})", f"{base}[...]", f"{base}.T.T"))
        self.names.tensors.append(name)
        return [f"{name} = {text}"]

    def _effect(self) -> Lines:
        options = ["STATE['calls'] += 1", "SEEN.append(n)", "n += 1"]
        if self.style.is_method:
            options += ["self.calls += 1", f"self.last = {self.tensor(1)}", "self.count.add_(1)", "self.total = n"]
        return [self.pick(options)]

    def _draw_of_python(self) -> Lines:
        name = self.pick(self.names.tensors)
        kind = self.below(4)
        if kind == 0:
            return ["if torch.rand(()) < 0.5:", f"    {name} = {self.tensor()}"]
        if kind == 1:
            return ["if random.random() < 0.5:", f"    {name} = {self.tensor()}"]
        if kind == 2:
            return [f"{name} = {name} + torch.rand_like({name})"]
        return [f"{name} = {name} * random.random()"]

    # -- ends ------------------------------------------------------------------------------------

    def returned(self) -> str:
        """What a function gives back."""
        kind = self.below(10)
        if kind < 4:
            return self.pick(self.names.tensors)
        if kind < 7:
            return self.tensor()
        if kind == 7:
            return f"{self.tensor(1)}, {self.scalar(1)}"
        if kind == 8:
            return f"{{'a': {self.tensor(1)}, 'n': {self.number(1)}}}"
        return f"({self.pick(self.names.tensors)}, {self.pick(self.names.tensors)}, n)"

    # -- pieces ----------------------------------------------------------------------------------

    def _weighted(self, kinds: list[tuple[int, Callable[[int], Lines]]]) -> Callable[[int], Lines]:
        number = self.below(sum(weight for weight, _ in kinds))
        for weight, make in kinds:
            if number < weight:
                return make
            number -= weight
        return kinds[0][1]

    def _commented(self, lines: Lines) -> Lines:
        kind = self.below(24)
        if kind == 22:
            return [self.pick(COMMENTS), *lines]
        if kind == 23 and "\n" not in lines[-1]:
            return [*lines[:-1], f"{lines[-1]}  {self.pick(COMMENTS)}"]
        return lines

    def _trailing(self) -> str:
        return f"  {self.pick(COMMENTS)}" if self.chance(16) else ""

    def _new_scalar(self) -> str:
        name = self.fresh("s")
        self.names.scalars.append(name)
        return name

    def _new_number(self) -> str:
        name = self.fresh("k")
        self.names.numbers.append(name)
        return name


def _indented(lines: Lines) -> Lines:
    """One level deeper; what stands inside of a text over several lines is indented with it."""
    return [f"    {part}" for line in lines for part in line.split("\n")]
