"""Which code has to be followed because it may give values that matter, found by names.

A function whose parameters matter has its callers followed; a class whose constructor does, what makes objects of it.
They are found by name: in the bare text of files first, then in the outlines of those. What goes by another name too is
looked for under that name as well. All names known so far are looked for together, so that what is nearest to the
places that compile comes first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gbfix.analysis.callables import Frame
from gbfix.analysis.classes import ClassInfo
from gbfix.analysis.outline import Holder
from gbfix.analysis.places import COMPILER, Constructor, Object, Place
from gbfix.analysis.source import Function

if TYPE_CHECKING:
    from gbfix.analysis.calls import Calls

_CONSTRUCTING = frozenset({"__init__", "__new__", "__post_init__"})
_FILLING = ("append", "extend", "insert", "add_module", "register_module", "update", "__init__")


class Demand:
    """Collects what matters, and finds the holders to be followed for it."""

    def __init__(self) -> None:
        self._calls: Calls | None = None
        self._names: dict[Place, None] = {}
        self._stored: dict[str, None] = {}
        self._holders: dict[tuple[str, Holder], None] = {}
        self._pending_names: list[Place] = []
        self._pending_stored: list[str] = []
        self._pending_holders: list[tuple[str, Holder]] = []

    def start(self, calls: Calls) -> None:
        """Look for what compiles by other names than its own."""
        self._calls = calls
        calls.places.want(COMPILER)

    def next_holders(self) -> Iterator[tuple[str, Holder]]:
        """The holders to be followed next, with their paths; none when all is found."""
        holders, self._pending_holders = self._pending_holders, []
        names, self._pending_names = self._pending_names, []
        stored, self._pending_stored = self._pending_stored, []
        found = dict.fromkeys(holders)
        for place in names:
            for path in self._files_with(place):
                if not self.calls.outlines.has_room:
                    break
                found.update(dict.fromkeys((path, holder) for holder in self._users(path, place)))
        for name in stored:
            for file in self.calls.spotted.storing(name):
                if not self.calls.outlines.has_room:
                    break
                outline = self.calls.outlines[file]
                found.update(dict.fromkeys((file, holder) for holder in outline.storing.get(name, ())))
        for one in found:
            if one not in self._holders:
                self._holders[one] = None
                yield one

    def _files_with(self, place: Place) -> list[str]:
        if not place.is_wide:
            return [place.path]
        if place.owner is None:
            return self.calls.spotted.naming(place.name)
        own = [cls.path for cls in self.calls.classes.order(place.owner) if isinstance(cls, ClassInfo)]
        return [*dict.fromkeys([*own, *self.calls.spotted.reading(place.name)])]

    def _users(self, path: str, place: Place) -> Iterator[Holder]:
        """The holders of a file that may read what goes by a name."""
        outline = self.calls.outlines[path]
        if place.owner is None:
            yield from outline.users.get(place.name, ())
            for other in outline.renamed.get(place.name, ()):
                self._want(Place(path, other))
        if place.is_wide:
            for holder, value in outline.attribute_users.get(place.name, ()):
                owner = outline.method_class(value)
                if owner is None or place.owner is None or self._related(place.owner, path, owner):
                    yield holder

    def _related(self, info: ClassInfo, path: str, owner: ast.ClassDef) -> bool:
        classes = self.calls.classes
        other = classes.info(path, owner)
        return other in classes.order(info) or info in classes.order(other)

    @property
    def calls(self) -> Calls:
        """What is searched."""
        assert self._calls is not None
        return self._calls

    def is_done(self) -> bool:
        """True when nothing is left to be looked for."""
        return not (self._pending_names or self._pending_stored or self._pending_holders)

    def at_place(self, place: Place) -> None:
        """Something that matters when it is called goes by a name, or is returned by a function."""
        if place.name:
            self._want(place)
        elif place.function is not None:
            self._want_function(place.path, place.function, None)

    def of_parameter(self, parameter: ast.arg, frame: Frame) -> None:
        """The values of a parameter matter: whoever calls the function gives them."""
        function = frame.function
        if function is None:
            return
        is_first = function.parameters[:1] == [parameter]
        if function.owner is None or not is_first or frame.receiver is None:
            self._want_function(frame.path, function, frame.receiver)

    def of_attribute(self, name: str) -> None:
        """The values of an attribute matter: whoever stores it gives them."""
        if name not in self._stored:
            self._stored[name] = None
            self._pending_stored.append(name)

    def of_contents(self, info: ClassInfo) -> None:
        """The elements of a container class matter: those are given to its constructor, or put in by its methods."""
        self._want_class(info)
        for cls in self.calls.classes.order(info):
            if isinstance(cls, ClassInfo):
                for name in _FILLING:
                    for holder, _ in self.calls.outlines[cls.path].attribute_users.get(name, ()):
                        self._pending_holders.append((cls.path, holder))

    def _want_function(self, path: str, function: Function, receiver: ClassInfo | None) -> None:
        if function.owner is not None and receiver is not None and function.name in _CONSTRUCTING:
            self._want_class(receiver)
            self._want_below(receiver, function)
        elif receiver is not None and (function.name == "forward" or function.name.startswith("__")):
            self._want_object(receiver)
        if not self.calls.places.want(function):
            return
        scope = self.calls.project.names_of(path).scope_of(function.node)
        if isinstance(function.node, ast.Lambda):
            self._pending_holders.append((path, self.calls.outlines[path].holder_of(scope)))
        elif function.owner is None:
            self._want(Place(path, function.name, is_wide=isinstance(scope, ast.Module)))
        elif receiver is not None and function.name != "forward":
            self._want(Place(path, function.name, is_wide=True, owner=receiver))

    def _want_class(self, info: ClassInfo) -> None:
        if self.calls.places.want(Constructor(info)):
            self._want(Place(info.path, info.node.name, is_wide=True))

    def _want_object(self, info: ClassInfo) -> None:
        if self.calls.places.want(Object(info)):
            self._want(Place(info.path, info.node.name, is_wide=True))

    def _want_below(self, receiver: ClassInfo, function: Function) -> None:
        """The constructors of the classes below give values to that of a base."""
        for cls in self.calls.classes.order(receiver):
            if isinstance(cls, ClassInfo):
                for other in self.calls.project.files[cls.path].functions:
                    if other.owner is cls.node and other.name in _CONSTRUCTING and other is not function:
                        self._pending_holders.append((cls.path, other.node))

    def _want(self, place: Place) -> None:
        if place not in self._names and not (place.name.startswith("__") and place.name.endswith("__")):
            self._names[place] = None
            self._pending_names.append(place)
