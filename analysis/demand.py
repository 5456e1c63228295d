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
        self._names: dict[tuple[str | None, str], None] = {}
        self._stored: dict[str, None] = {}
        self._holders: dict[tuple[str, Holder], None] = {}
        self._pending_names: list[tuple[str | None, str]] = []
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
        for path, name in names:
            for file in [path] if path is not None else self.calls.spotted.naming(name):
                if not self.calls.outlines.has_room:
                    break
                outline = self.calls.outlines[file]
                found.update(dict.fromkeys((file, holder) for holder in outline.users.get(name, ())))
                for other in outline.renamed.get(name, ()):
                    self._want_name(file, other)
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
            self._want_name(None if place.is_wide else place.path, place.name)
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
                    for holder in self.calls.outlines[cls.path].users.get(name, ()):
                        self._pending_holders.append((cls.path, holder))

    def _want_function(self, path: str, function: Function, receiver: ClassInfo | None) -> None:
        if function.owner is not None and receiver is not None and function.name in _CONSTRUCTING:
            self._want_class(receiver)
            self._want_below(receiver, function)
        elif receiver is not None and function.name.startswith("__"):
            self._want_object(receiver)
        elif receiver is not None and function.name == "forward":
            self._want_object(receiver)
            self._want_name(None, "forward")
        if not self.calls.places.want(function):
            return
        source = self.calls.project.files[path]
        around = source.enclosing_function(function.node)
        if isinstance(function.node, ast.Lambda):
            names = self.calls.project.names_of(path)
            self._pending_holders.append((path, self.calls.outlines[path].holder_of(names.scope_of(function.node))))
        elif not function.name.startswith("__"):
            is_local = around is not None and function.owner is None
            self._want_name(path if is_local else None, function.name)

    def _want_class(self, info: ClassInfo) -> None:
        if self.calls.places.want(Constructor(info)):
            self._want_name(None, info.node.name)

    def _want_object(self, info: ClassInfo) -> None:
        if self.calls.places.want(Object(info)):
            self._want_name(None, info.node.name)

    def _want_below(self, receiver: ClassInfo, function: Function) -> None:
        """The constructors of the classes below give values to that of a base."""
        for cls in self.calls.classes.order(receiver):
            if isinstance(cls, ClassInfo):
                for other in self.calls.project.files[cls.path].functions:
                    if other.owner is cls.node and other.name in _CONSTRUCTING and other is not function:
                        self._pending_holders.append((cls.path, other.node))

    def _want_name(self, path: str | None, name: str) -> None:
        if (path, name) not in self._names and (None, name) not in self._names:
            self._names[path, name] = None
            self._pending_names.append((path, name))
