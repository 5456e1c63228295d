"""Which buffers of a class hold one integer that `__init__` computes, and how to keep that integer beside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field

from gbfix.analysis.names import Names
from gbfix.analysis.project import FileView
from gbfix.codemods._text import unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass

_BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})
_WHOLE = frozenset({"torch.int64", "torch.long"})
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)


@dataclass(frozen=True)
class NumberBuffer:
    """A buffer `self.name`. number: the integer as an expression of `__init__`; kept: the new attribute for it.

    persistent: part of the state dict, which may put another number there.
    """

    name: str
    statement: ast.stmt
    number: str
    kept: str
    persistent: bool


@dataclass
class Sources:
    """The buffers of a class, and the local names that `__init__` gets for their integers.

    made: by statement that makes a tensor, the name and the expression of its integer, and the part that it replaces.
    """

    buffers: list[NumberBuffer] = field(default_factory=list)
    made: dict[ast.stmt, tuple[str, ast.expr]] = field(default_factory=dict)


def number_buffers(view: FileView, owner: ast.ClassDef) -> Sources:
    """The buffers of a class that hold an integer made by `__init__`."""
    return _Reader(view, owner).read()


class _Reader:
    def __init__(self, view: FileView, owner: ast.ClassDef) -> None:
        self._view = view
        self._names: Names = view.names
        self._owner = owner
        self._taken = all_names(view.source.tree)
        self._attributes = {part.attr for part in view.source.nodes if isinstance(part, ast.Attribute)}
        self._found = Sources()
        self._body: Sequence[ast.stmt] = ()
        self._receiver = ""

    def read(self) -> Sources:
        made = [one for one in self._owner.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        if len(made) != 1 or not made[0].args.args:
            return self._found
        self._body = body = made[0].body
        self._receiver = receiver = made[0].args.args[0].arg
        for statement in body:
            buffer = _buffer(self._names, statement, receiver)
            if buffer is None:
                continue
            name, held, persistent = buffer
            number = self._number(body[: body.index(statement)], held)
            if number is not None:
                kept = _new(f"{name}_number", self._attributes)
                self._found.buffers.append(NumberBuffer(name, statement, number, kept, persistent))
        return self._found

    def _number(self, before: Sequence[ast.stmt], held: ast.expr) -> str | None:
        """The source of the integer that a tensor is made of, None for another tensor."""
        match held:
            case ast.Name(id=name):
                return self._of_name(before, name)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
                sides = self._number(before, left), self._number(before, right)
                if None in sides:
                    return None
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(op)]
                return f"({sides[0]} {sign} {sides[1]})"
            case _:
                made = _whole_number(self._names, held)
                return None if made is None else str(made.value) if isinstance(made, ast.Constant) else None

    def _of_name(self, before: Sequence[ast.stmt], name: str) -> str | None:
        setters = [one for one in before if _sets(one, name)]
        if not setters or not isinstance(setters[-1], ast.Assign) or len(setters[-1].targets) != 1:
            return None
        last = setters[-1]
        if not isinstance(last.targets[0], ast.Name) or not self._is_only_kept(last, name):
            return None
        if last in self._found.made:
            return self._found.made[last][0]
        made = _whole_number(self._names, last.value)
        if made is None:
            return self._number(before[: before.index(last)], last.value) if _is_sum(last.value) else None
        number = _new(f"{name}_number", self._taken)
        self._found.made[last] = (number, made)
        return number

    def _is_only_kept(self, made: ast.stmt, name: str) -> bool:
        """True when nothing below the making of a tensor mentions it but what makes buffers, which do not write."""
        for statement in self._body[self._body.index(made) + 1 :]:
            if _buffer(self._names, statement, self._receiver) is not None:
                continue
            if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement)):
                return False
        return True


def _new(wanted: str, taken: set[str]) -> str:
    name = unused_name(wanted, frozenset(taken))
    taken.add(name)
    return name


def _is_sum(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp)


def _buffer(names: Names, statement: ast.stmt, receiver: str) -> tuple[str, ast.expr, bool] | None:
    """The name, tensor and persistence of the buffer that a statement makes."""
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=owner), attr=name)],
            value=ast.Call(func=func, args=[held, *rest], keywords=keywords),
        ) if owner == receiver and names.qualified(func) in _BUFFERS and not rest:
            return name, held, not _is_false(keywords)
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="register_buffer"),
                args=[ast.Constant(value=str(name)), held],
                keywords=keywords,
            )
        ) if owner == receiver:
            return name, held, not _is_false(keywords)
        case _:
            return None


def _is_false(keywords: Sequence[ast.keyword]) -> bool:
    match list(keywords):
        case [ast.keyword(arg="persistent", value=ast.Constant(value=False))]:
            return True
        case _:
            return False


def _whole_number(names: Names, node: ast.expr) -> ast.expr | None:
    """The number in `torch.tensor(n, dtype=torch.int64)`, which can be computed alone; None for another tensor."""
    match node:
        case ast.Call(func=func, args=[number], keywords=keywords) if names.qualified(func) == "torch.tensor":
            words = {keyword.arg: names.qualified(keyword.value) for keyword in keywords}
            constant = isinstance(number, ast.Constant) and type(number.value) is int
            typed = set(words) == {"dtype"} and words["dtype"] in _WHOLE
            if not typed and not (constant and not words):
                return None
            plain = all(isinstance(part, (*_PLAIN, ast.expr_context)) for part in ast.walk(number))
            return number if plain else None
        case _:
            return None


def _sets(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load)
        for part in ast.walk(statement)
    )


def other_mentions(view: FileView, owner: ast.ClassDef, name: str) -> Iterator[ast.Attribute]:
    """The places outside of the class that mention an attribute of this name."""
    inside = set(ast.walk(owner))
    for part in view.source.nodes:
        if isinstance(part, ast.Attribute) and part.attr == name and part not in inside:
            yield part
