"""`dataclass` as in the standard library, completed when the class is first made use of.

The standard library reads the fields of each class, and writes and compiles six methods for it, when its module is
loaded. With two hundred classes that takes longer than looking at a file, and a run makes use of few of them. Here a
class waits: the first object, comparison or question for its fields completes it. Comparing, hashing and showing are
then closures; the constructor, which has to be fast, is the one that the standard library writes.

Type checkers see the standard `dataclass`, and it is they who keep frozen objects as they are: at run time, an
assignment to an attribute is not refused, which makes objects quicker to make, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any

_ALWAYS = ("__init__", "__repr__", "__dataclass_fields__", "__match_args__")
_EQUALITY = ("__eq__", "__hash__")
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")

_completing = RLock()
"""Held while a class is completed, which completes those that it derives from."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, order: bool = False
    ) -> type | Callable[[type], type]:
        """As `dataclasses.dataclass`, for these options."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, order=order)
        names = (*_ALWAYS, *(_EQUALITY if eq else ()), *(_ORDER if order else ()))
        own = vars(cls)
        # A class that defines only `__eq__` has `__hash__` None.
        late = [name for name in names if own.get(name) is None]

        def complete() -> None:
            with _completing:
                if not isinstance(vars(cls).get(late[0]), _Late):  # another thread was first
                    return
                for name in late:
                    delattr(cls, name)
                _complete(cls, frozen=frozen, eq=eq, order=order)

        for name in late:
            setattr(cls, name, _Late(name, complete))
        return cls


class _Late:
    """What a class has once it is complete; whoever looks for it completes the class.

    Python itself looks for methods such as `__eq__` in this way, too.
    """

    def __init__(self, name: str, complete: Callable[[], None]) -> None:
        self._name = name
        self._complete = complete

    def __get__(self, instance: object, owner: type) -> Any:  # noqa: ANN401
        self._complete()
        return getattr(owner if instance is None else instance, self._name)


def _complete(cls: type, *, frozen: bool, eq: bool, order: bool) -> None:
    if order:
        dataclasses.dataclass(frozen=frozen, order=True)(cls)
        return
    dataclasses.dataclass(repr=False, eq=False)(cls)
    _add(cls, "__repr__", _shown(cls))
    if eq:
        _compare_by_value(cls, frozen=frozen)


def _shown(cls: type) -> Callable[[object], str]:
    names = [one.name for one in dataclasses.fields(cls) if one.repr]

    @recursive_repr()
    def shown(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return shown


def _compare_by_value(cls: type, *, frozen: bool) -> None:
    names = [one.name for one in dataclasses.fields(cls) if one.compare]
    # Of one name the value would come alone; in a tuple an object equals itself, NaN too.
    values = attrgetter(*names, names[0]) if names else lambda _self: ()

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    _add(cls, "__eq__", equal)
    _add(cls, "__hash__", hashed if frozen else None)


def _add(cls: type, name: str, value: object) -> None:
    """Add what the class does not define itself."""
    if name not in vars(cls):
        setattr(cls, name, value)
