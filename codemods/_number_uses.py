"""Follows an integer out of a buffer through the methods of its class to where it is compared, or is a size."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field
from enum import Enum

from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function
from gbfix.analysis.values import Kind
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass

ONLY_NUMBERS = "the number is only compared, and a size, a bound or a padding"
ADVICE = "keep the integer in an attribute beside the buffer, and compute sizes with that"
_SAME = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_OF_NUMBERS = frozenset({"max", "min", "int", "abs"})
_WHOLE = frozenset({"torch.int64", "torch.long"})
_SIZES = {"torch.nn.functional.pad": 1, "torch._C._nn.pad": 1}


EXACT = 2**22
"""Below, the float32 quotient of two integers, and a small number added to it, is on the right side of each integer."""


class What(Enum):
    """What an expression gives: nothing of the number, a Python number of others, or something computed with it."""

    OTHER = 0
    PLAIN = 1
    WHOLE = 2
    TUPLE = 3
    TRUTH = 4


@dataclass(frozen=True)
class Quotient:
    """Statements that round `(upper / lower) + more`, of which `rounding` is the expression with that as an int64."""

    statements: Sequence[ast.stmt]
    rounding: ast.Call
    upper: ast.expr
    lower: ast.expr
    more: int
    up: bool


@dataclass
class Uses:
    """What was found: where buffers are read, what is rounded, and the places that make Dynamo read a number."""

    reads: list[ast.Attribute] = field(default_factory=list)
    quotients: list[Quotient] = field(default_factory=list)
    needed: list[ast.AST] = field(default_factory=list)


class NumberUses:
    """The uses in the compiled methods of one class."""

    def __init__(self, view: FileView, owner: ast.ClassDef, names: frozenset[str]) -> None:
        self._view = view
        self._buffers = names
        self._methods = {f.name: f for f in view.source.functions if f.owner is owner and f.name != "__init__"}
        self._compiled = {compiled.function for compiled in view.compiled}
        self._given: dict[tuple[str, str], What] = {}
        self._returned: dict[str, What] = {}
        self._called: set[ast.Attribute] = set()
        self.uses = Uses()

    def follow(self) -> Uses:
        """Everything that the number reaches. Raises RefusedError for a use that may tell an int from a tensor."""
        for _ in range(len(self._methods) + 2):  # until what methods are given and return is settled
            before = (dict(self._given), dict(self._returned))
            self.uses = Uses()
            for name, function in self._methods.items():
                if function in self._compiled:
                    self._method(name, function)
            if before == (self._given, self._returned):
                break
        self._check_callers()
        return self.uses

    def _check_callers(self) -> None:
        """What returns the number has no other callers, as far as the file and the name show."""
        for name, what in self._returned.items():
            if what not in (What.WHOLE, What.TUPLE):
                continue
            line = self._methods[name].node.lineno
            if not name.startswith("_") or name.startswith("__"):
                raise RefusedError(ONLY_NUMBERS, f"{name} returns it to whoever calls", line, ADVICE)
            for part in self._view.source.nodes:
                if isinstance(part, ast.Attribute) and part.attr == name and part not in self._called:
                    raise RefusedError(ONLY_NUMBERS, f"{name} returns it", part.lineno, ADVICE)

    def _method(self, name: str, function: Function) -> None:
        node = function.node
        assert not isinstance(node, ast.Lambda)
        held = {parameter.arg: self._given.get((name, parameter.arg), What.OTHER) for parameter in function.parameters}
        reader = _MethodReader(self, function, held)
        for _ in range(3):  # names that are set below where they are read
            before = dict(held)
            reader.block(node.body)
            if held == before:
                break
        if reader.returned is not What.OTHER:
            self._returned[name] = reader.returned

    # -- asked by the reader of a method ---------------------------------------------------

    def is_buffer(self, node: ast.expr) -> bool:
        """True for `self.name` of one of the buffers."""
        return (
            isinstance(node, ast.Attribute)
            and node.attr in self._buffers
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        )

    def is_number(self, function: Function, node: ast.expr, statement: ast.stmt) -> bool:
        """True for a Python integer, such as a size."""
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        flow = flow_of(self._view, function)
        state = flow.before.get(statement)
        if state is None:
            return False
        value = flow.evaluate(node, state)[0]
        return value.kind is Kind.NUMBER and value.number == "int"

    def qualified(self, node: ast.expr) -> str:
        """The dotted library name of an expression, empty where it has none."""
        return self._view.names.qualified(node) or ""

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """True for a builtin function."""
        return isinstance(node, ast.Name) and node.id == name and self._view.names.is_builtin(node, name)

    def text(self, node: ast.AST) -> str:
        """The source of a part, short."""
        return shorten(" ".join(self._view.source.segment(node).split()))

    def call(self, node: ast.Call, given: Sequence[What], words: dict[str, What]) -> What | None:
        """The result of a method of the class that is given numbers, None for another call."""
        func = node.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != "self":
            return None
        function = self._methods.get(func.attr)
        if function is None:
            return None
        self._called.add(func)
        names = [parameter.arg for parameter in function.parameters]
        static = any(
            self.qualified(one) == "" and self.text(one) == "staticmethod" for one in self._decorators(function)
        )
        if not static:
            names = names[1:]
        for name, what in [*zip(names, given, strict=False), *words.items()]:
            if what in (What.WHOLE, What.TUPLE):
                self._given[func.attr, name] = what
        numbers = any(what in (What.WHOLE, What.TUPLE) for what in (*given, *words.values()))
        if numbers and (function not in self._compiled or len(given) > len(names)):
            raise RefusedError(ONLY_NUMBERS, f"{func.attr} is given it", node.lineno, ADVICE)
        return self._returned.get(func.attr, What.OTHER)

    @staticmethod
    def _decorators(function: Function) -> list[ast.expr]:
        node = function.node
        return [] if isinstance(node, ast.Lambda) else node.decorator_list


class _MethodReader:
    """Reads the statements of one method; `held` is what each of its names may hold."""

    def __init__(self, uses: NumberUses, function: Function, held: dict[str, What]) -> None:
        self._uses = uses
        self._function = function
        self._held = held
        self.returned = What.OTHER

    def block(self, body: Sequence[ast.stmt], *, done: bool = False) -> None:
        """Read statements; done: a quotient among them is rounded with tensors on purpose, beyond what is exact."""
        index = 0
        while index < len(body):
            quotient = self._quotient(body[index : index + 2])
            if quotient is not None and done:
                self._statement(quotient.statements[-1], quotient)
                index += len(quotient.statements)
                continue
            if quotient is not None:
                if all(one.rounding is not quotient.rounding for one in self._uses.uses.quotients):
                    self._uses.uses.quotients.append(quotient)
                self._statement(quotient.statements[-1], quotient)
                self._tainted(quotient.upper, quotient.statements[0])
                self._tainted(quotient.lower, quotient.statements[0])
                index += len(quotient.statements)
                continue
            self._statement(body[index], None)
            index += 1

    def _statement(self, statement: ast.stmt, quotient: Quotient | None) -> None:
        def evaluate(node: ast.expr) -> What:
            return self._what(node, statement, quotient)

        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._set(name, evaluate(value), statement)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                what = evaluate(value)
                for target in targets:
                    if what is What.TUPLE and isinstance(target, ast.Name):
                        self._set(target.id, What.WHOLE, statement)
            case ast.Return(value=ast.expr() as value):
                what = evaluate(value)
                if what in (What.WHOLE, What.TUPLE):
                    self.returned = what
                elif what is What.TRUTH:
                    raise self._refused(value)
            case ast.If(test=test) | ast.While(test=test):
                if evaluate(test) in (What.TRUTH, What.WHOLE):
                    self._uses.uses.needed.append(test)
                self.block(statement.body)
                asked = any(isinstance(part, ast.Constant) and part.value == EXACT for part in ast.walk(test))
                self.block(statement.orelse, done=asked)
            case ast.Expr(value=value):
                if evaluate(value) is What.TRUTH:
                    raise self._refused(value)
            case _:
                self._reads_nothing(statement, statement)

    def _set(self, name: str, what: What, statement: ast.stmt) -> None:
        if what is What.TRUTH:
            raise self._refused(statement)
        if what.value > self._held.get(name, What.OTHER).value:
            self._held[name] = what

    def _reads_nothing(self, node: ast.AST, statement: ast.stmt) -> None:
        """Raises RefusedError when a part of something that is not followed reads the number."""
        for part in ast.walk(node):
            is_held = isinstance(part, ast.Name) and self._held.get(part.id) in (What.WHOLE, What.TUPLE)
            if isinstance(part, ast.expr) and (is_held or self._uses.is_buffer(part)):
                raise self._refused(part if part is not node else statement)

    def _refused(self, node: ast.AST) -> RefusedError:
        line = getattr(node, "lineno", 0)
        return RefusedError(ONLY_NUMBERS, f"{self._uses.text(node)} is something else", line, ADVICE)

    # -- expressions -----------------------------------------------------------------------

    def _what(self, node: ast.expr, statement: ast.stmt, quotient: Quotient | None = None) -> What:
        def what(part: ast.expr) -> What:
            return self._what(part, statement, quotient)

        if quotient is not None and node is quotient.rounding:
            return What.WHOLE
        if self._uses.is_buffer(node):
            assert isinstance(node, ast.Attribute)
            self._uses.uses.reads.append(node)
            return What.WHOLE
        match node:
            case ast.Name(id=name):
                held = self._held.get(name, What.OTHER)
                return held if held is not What.OTHER or not self._plain(node, statement) else What.PLAIN
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(node, [what(left), what(right)], isinstance(op, _SAME))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._arithmetic(node, [what(operand)], same=True)
            case ast.Compare(left=left, comparators=others):
                return self._compared(node, [what(left), *map(what, others)])
            case ast.BoolOp(values=values):
                found = [what(value) for value in values]
                return What.TRUTH if any(one in (What.TRUTH, What.WHOLE) for one in found) else What.OTHER
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return What.TRUTH if what(operand) in (What.TRUTH, What.WHOLE) else What.OTHER
            case ast.IfExp(test=test, body=body, orelse=orelse):
                if what(test) in (What.TRUTH, What.WHOLE):
                    self._uses.uses.needed.append(test)
                return self._arithmetic(node, [what(body), what(orelse)], same=True)
            case ast.Tuple(elts=elements):
                return What.TUPLE if self._numbers([what(one) for one in elements], node) else What.OTHER
            case ast.Subscript(value=value, slice=index):
                return self._subscript(node, what(value), index, statement)
            case ast.Call():
                return self._call(node, statement, quotient)
            case _:
                self._reads_nothing(node, statement)
                return What.PLAIN if self._plain(node, statement) else What.OTHER

    def _plain(self, node: ast.expr, statement: ast.stmt) -> bool:
        return self._uses.is_number(self._function, node, statement)

    def _numbers(self, found: Sequence[What], node: ast.expr) -> bool:
        """True when one of some parts is the number; the others are Python's numbers then. Raises RefusedError."""
        if not any(one in (What.WHOLE, What.TUPLE, What.TRUTH) for one in found):
            return False
        if any(one not in (What.WHOLE, What.PLAIN) for one in found):
            raise self._refused(node)
        return True

    def _arithmetic(self, node: ast.expr, found: Sequence[What], same: bool) -> What:
        if self._numbers(found, node):
            if not same:
                raise self._refused(node)
            return What.WHOLE
        return What.PLAIN if all(one is What.PLAIN for one in found) else What.OTHER

    def _compared(self, node: ast.Compare, found: Sequence[What]) -> What:
        if len(found) > 2 or any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
            self._numbers([*found, What.OTHER], node)
            return What.OTHER
        return What.TRUTH if self._numbers(found, node) else What.OTHER

    def _subscript(self, node: ast.Subscript, value: What, index: ast.expr, statement: ast.stmt) -> What:
        if value in (What.WHOLE, What.TUPLE, What.TRUTH):
            raise self._refused(node)
        for part in index.elts if isinstance(index, ast.Tuple) else [index]:
            bounds = [part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else []
            for bound in bounds:
                if bound is not None and self._what(bound, statement) is What.WHOLE:
                    self._uses.uses.needed.append(bound)
            if not bounds:
                self._reads_nothing(part, statement)
        return What.PLAIN if self._plain(node, statement) else What.OTHER

    def _call(self, node: ast.Call, statement: ast.stmt, quotient: Quotient | None) -> What:
        def what(part: ast.expr) -> What:
            return self._what(part, statement, quotient)

        if any(isinstance(one, ast.Starred) for one in node.args) or any(k.arg is None for k in node.keywords):
            self._reads_nothing(node, statement)
            return What.OTHER
        given = [what(one) for one in node.args]
        words = {str(keyword.arg): what(keyword.value) for keyword in node.keywords}
        for name in _OF_NUMBERS:
            if self._uses.is_builtin(node.func, name) and not words and given:
                return self._arithmetic(node, given, same=True)
        place = _SIZES.get(self._uses.qualified(node.func))
        if place is not None:
            sizes = [*(given[place : place + 1]), *(words[name] for name in ("pad",) if name in words)]
            others = [*given[:place], *given[place + 1 :], *(one for name, one in words.items() if name != "pad")]
            if any(one in (What.WHOLE, What.TUPLE) for one in sizes):
                self._uses.uses.needed.append(node)
            if any(one in (What.WHOLE, What.TUPLE, What.TRUTH) for one in others):
                raise self._refused(node)
            return What.OTHER
        method = self._uses.call(node, given, words)
        if method is not None:
            return method
        if isinstance(node.func, ast.Attribute):
            self._reads_nothing(node.func.value, statement)
        if any(one in (What.WHOLE, What.TUPLE, What.TRUTH) for one in (*given, *words.values())):
            raise self._refused(node)
        return What.PLAIN if self._plain(node, statement) else What.OTHER

    # -- quotients -------------------------------------------------------------------------

    def _quotient(self, statements: Sequence[ast.stmt]) -> Quotient | None:
        """A division by the number, or of it, in one statement, and its rounding to int64 there or in the next."""
        match statements:
            case [ast.Assign(targets=[ast.Name(id=name)], value=value) as first, ast.Assign() as second]:
                divided = self._division(value)
                rounding = _rounding_of(second, name) if divided is not None else None
                if divided is None or rounding is None or not self._is_tainted(value):
                    return None
                if not self._only_rounded(first, second, name):
                    return None
                call, up = rounding
                return Quotient([first, second], call, *divided, up)
            case _:
                return None

    def _division(self, node: ast.expr) -> tuple[ast.expr, ast.expr, int] | None:
        match node:
            case ast.BinOp(
                left=ast.BinOp() as inner, op=ast.Add() | ast.Sub() as op, right=ast.Constant(value=int(more))
            ):
                divided = self._division(inner)
                sign = 1 if isinstance(op, ast.Add) else -1
                if divided is None or divided[2] != 0 or not 0 <= more <= 3:
                    return None
                return divided[0], divided[1], sign * more
            case ast.BinOp(left=upper, op=ast.Div(), right=lower):
                return upper, lower, 0
            case _:
                return None

    def _is_tainted(self, node: ast.expr) -> bool:
        return any(
            isinstance(part, ast.expr)
            and (self._uses.is_buffer(part) or (isinstance(part, ast.Name) and self._held.get(part.id) is What.WHOLE))
            for part in ast.walk(node)
        )

    def _only_rounded(self, first: ast.stmt, second: ast.Assign, name: str) -> bool:
        """True when nothing but the second statement reads the quotient that the first one computes."""
        loads = [
            part
            for part in ast.walk(self._function.node)
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        ]
        inside = [part for part in loads if part in set(ast.walk(second))]
        again = any(isinstance(target, ast.Name) and target.id == name for target in second.targets)
        before = [part for part in loads if part.lineno < first.lineno]
        return len(inside) == 1 and not before and (again or len(loads) == 1)

    def _tainted(self, node: ast.expr, statement: ast.stmt) -> None:
        if self._what(node, statement) not in (What.WHOLE, What.PLAIN):
            raise self._refused(node)


def _rounding_of(statement: ast.Assign, name: str) -> tuple[ast.Call, bool] | None:
    """The expression `torch.ceil(name).to(torch.int64)` of a statement, and whether it rounds up."""
    for part in ast.walk(statement.value):
        match part:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id="torch"), attr="ceil" | "floor" as how),
                        args=[ast.Name(id=read)],
                        keywords=[],
                    ),
                    attr="to",
                ),
                args=[ast.Attribute(value=ast.Name(id="torch"), attr="int64" | "long")],
                keywords=[],
            ) if read == name:
                return part, how == "ceil"
    return None
