"""What an expression may be as far as calls go: functions, classes, objects; and the places they flow through."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TypeAlias

from gbfix.analysis.classes import ClassInfo
from gbfix.analysis.outline import Holder
from gbfix.analysis.slots import Slot
from gbfix.analysis.source import Function
from gbfix.engine.dataclass import dataclass


@dataclass(eq=False)
class Frame:
    """A holder of code as called in one way: its own values for its names.

    `receiver` is the class of `self` in a method. A function that makes closures of its parameters
    has one frame per place that calls it, so that two decorated functions are not mixed up.
    """

    path: str
    holder: Holder
    function: Function | None = None
    outer: Frame | None = None
    receiver: ClassInfo | None = None
    slots: dict[object, Slot[Value]] = field(default_factory=dict)


@dataclass(frozen=True)
class FunctionValue:
    """A function or lambda, with the frame that it was made in."""

    path: str
    function: Function
    outer: Frame | None


@dataclass(frozen=True)
class ClassValue:
    """A class of a given file."""

    info: ClassInfo


@dataclass(frozen=True)
class InstanceValue:
    """An object of a class of a given file."""

    info: ClassInfo


@dataclass(frozen=True)
class BoundValue:
    """A function with its first argument bound, as methods are."""

    function: FunctionValue
    receiver: InstanceValue | ClassValue


@dataclass(frozen=True)
class SuperValue:
    """`super()` of an object, which looks attributes up after one of its classes."""

    receiver: InstanceValue | ClassValue
    after: ClassInfo


@dataclass(frozen=True)
class ModuleValue:
    """A given file as an imported module."""

    path: str


@dataclass(frozen=True)
class LibraryValue:
    """Something outside the given files, by its dotted name."""

    name: str


@dataclass(frozen=True)
class PartialValue:
    """A callable with some arguments bound: `functools.partial`, or a decorator that has its options."""

    target: Value
    arguments: Arguments


@dataclass(frozen=True)
class WrappedValue:
    """A callable that a builtin or library decorator changed; `kind` says how."""

    target: Value
    kind: str


@dataclass(frozen=True)
class GivingValue:
    """A method whose call gives `target`, such as `to` of a module."""

    target: Value


@dataclass(frozen=True)
class FillingValue:
    """A method that puts its arguments into a module of this class, such as `append` of a ModuleList."""

    info: ClassInfo


@dataclass(frozen=True)
class AutogradValue:
    """`apply` of a torch.autograd.Function of a given file."""

    info: ClassInfo


@dataclass(frozen=True)
class CompilingValue:
    """The `compile` method of a module, which compiles it in place."""

    target: InstanceValue


STATIC = "static"
CLASS_METHOD = "class method"
PROPERTY = "property"
ENDED = "not traced"
SKIPPED = "frame not traced"
"""Kinds of `WrappedValue`."""

Value: TypeAlias = (
    FunctionValue
    | ClassValue
    | InstanceValue
    | BoundValue
    | SuperValue
    | ModuleValue
    | LibraryValue
    | PartialValue
    | WrappedValue
    | GivingValue
    | FillingValue
    | AutogradValue
    | CompilingValue
)


@dataclass(eq=False)
class Arguments:
    """The arguments of a call, each as the slot that its values flow through, None where none can."""

    positional: list[Slot[Value] | Star | None] = field(default_factory=list)
    keywords: dict[str, Slot[Value] | None] = field(default_factory=dict)
    expressions: dict[str, ast.expr] = field(default_factory=dict)
    """The source of the keyword arguments."""
    positional_expressions: list[ast.expr] = field(default_factory=list)
    merged: int = 0
    """How many calls these arguments came together from."""

    def then(self, more: Arguments) -> Arguments:
        """These arguments, followed and overridden by those of a later call."""
        return Arguments(
            [*self.positional, *more.positional],
            {**self.keywords, **more.keywords},
            {**self.expressions, **more.expressions},
            [*self.positional_expressions, *more.positional_expressions],
            self.merged + 1,
        )

    def slots(self) -> list[Slot[Value]]:
        """Every slot."""
        found = [*self.positional, *self.keywords.values()]
        return [slot.rest if isinstance(slot, Star) else slot for slot in found if slot is not None]


@dataclass(frozen=True, eq=False)
class Star:
    """A starred argument: the first of its elements apart, since that is often `self`."""

    first: Slot[Value]
    rest: Slot[Value]
