"""Where callables go by which names, so that the code that calls them can be found by these names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gbfix.analysis.callables import (
    BoundValue,
    ClassValue,
    CompilingValue,
    FunctionValue,
    GivingValue,
    InstanceValue,
    LibraryValue,
    PartialValue,
    Value,
    WrappedValue,
)
from gbfix.analysis.classes import ClassInfo
from gbfix.analysis.library import Effect, library_function
from gbfix.analysis.slots import Flow, Slot
from gbfix.analysis.source import Function
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True)
class Place:
    """A name that holds a value, or a function that returns it.

    is_wide: other files can reach the name. owner: the class of the object that has it as an attribute.
    """

    path: str
    name: str
    is_wide: bool = False
    owner: ClassInfo | None = None
    function: Function | None = None


@dataclass(frozen=True)
class Constructor:
    """Stands for calling a class."""

    info: ClassInfo


@dataclass(frozen=True)
class Object:
    """Stands for calling an object of a class, or a method of it."""

    info: ClassInfo


COMPILER = "what compiles"
Callee: TypeAlias = Function | Constructor | Object | str
"""Something that is called; `COMPILER` for what compiles its argument."""


class Places:
    """Remembers which places hold which callees, and tells the places of those that are wanted."""

    def __init__(self, flow: Flow[Value], on_place: Callable[[Place], None]) -> None:
        """`on_place` is told of each place of a wanted callee."""
        self._flow = flow
        self._on_place = on_place
        self._places: dict[Callee, dict[Place, None]] = {}
        self._wanted: set[Callee] = set()
        self._told: set[Place] = set()

    def watch(self, slot: Slot[Value], place: Place) -> None:
        """Remember what flows through a slot."""
        self._flow.watch(slot, lambda value: self._notice(value, place))

    def want(self, callee: Callee) -> bool:
        """Tell the places of a callee, now and later. False when it was wanted already."""
        if callee in self._wanted:
            return False
        self._wanted.add(callee)
        for place in self._places.get(callee, ()):
            self._tell(place)
        return True

    def _notice(self, value: Value, place: Place) -> None:
        callee = _callee(value)
        if callee is None or (isinstance(callee, Function) and callee.name == place.name):
            return
        places = self._places.setdefault(callee, {})
        if place not in places:
            places[place] = None
            if callee in self._wanted:
                self._tell(place)

    def _tell(self, place: Place) -> None:
        if place not in self._told:
            self._told.add(place)
            self._on_place(place)


def _callee(value: Value) -> Callee | None:
    while isinstance(value, PartialValue | WrappedValue | GivingValue):
        value = value.target
    if isinstance(value, FunctionValue):
        return value.function
    if isinstance(value, BoundValue):
        return value.function.function
    if isinstance(value, ClassValue):
        return Constructor(value.info)
    if isinstance(value, InstanceValue):
        return Object(value.info)
    if isinstance(value, CompilingValue):
        return COMPILER
    if isinstance(value, LibraryValue):
        known = library_function(value.name)
        return COMPILER if known is not None and known.effect in (Effect.COMPILE, Effect.OPTIMIZE) else None
    return None
