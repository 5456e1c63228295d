"""What an attribute of an object, class or module gives: methods, stored callables, submodules."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gbfix.analysis.callables import (
    CLASS_METHOD,
    PROPERTY,
    STATIC,
    AutogradValue,
    BoundValue,
    ClassValue,
    CompilingValue,
    FillingValue,
    FunctionValue,
    GivingValue,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    PartialValue,
    SuperValue,
    Value,
    WrappedValue,
)
from gbfix.analysis.classes import ClassInfo, ModuleKind
from gbfix.analysis.library import RETURNING_CHILDREN, RETURNING_ELEMENTS, RETURNING_SELF
from gbfix.analysis.names import Binding
from gbfix.analysis.outline import Store
from gbfix.analysis.places import Place
from gbfix.analysis.slots import Slot

if TYPE_CHECKING:
    from gbfix.analysis.applications import Application
    from gbfix.analysis.calls import Calls

_MOST_DOTS = 4  # of a library name: `node = node.next` has no end, and attributes of one another multiply
_FILLING = frozenset({"__init__", "append", "extend", "insert", "add_module", "register_module", "update"})
_ITERATING = ("__iter__", "__next__", "__getitem__")
_OF_CALLABLES = frozenset({"__call__", "__func__", "__wrapped__"})
_OF_TORCH = frozenset({"compile", "optimize", "disable", "optimize_assert"})
_AUTOGRAD_STEPS = ("forward", "setup_context", "backward")
_Receiver = InstanceValue | ClassValue


class Attributes:
    """Looks attributes up as Python does: in the object, then in its class and the bases in order."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._slots: dict[tuple[_Receiver, str, ClassInfo | None], Slot[Value]] = {}
        self._getters: dict[tuple[_Receiver, str], Slot[Value]] = {}
        self._outside: dict[tuple[ClassInfo, str], Slot[Value]] = {}
        self._contents: dict[ClassInfo, Slot[Value]] = {}
        self._subclasses: dict[ClassInfo, tuple[ClassInfo, ...]] = {}
        special = RETURNING_SELF | RETURNING_ELEMENTS | RETURNING_CHILDREN | _FILLING | _OF_CALLABLES | _OF_TORCH
        calls.spotted.attributes |= {*special, "apply", "func"}

    def read(self, base: Slot[Value], name: str, result: Slot[Value]) -> None:
        """Let an attribute of every value of a slot flow on."""
        self._calls.flow.depend(base, result)
        if name in _OF_TORCH:
            self._calls.flow.want(base)
        self._calls.flow.watch(base, lambda value: self._read_value(value, name, result))

    def of(self, receiver: _Receiver, name: str, after: ClassInfo | None = None) -> Slot[Value]:
        """An attribute of an object or class, with methods bound; looked up behind `after` for `super()`."""
        key = (receiver, name, after)
        if key not in self._slots:
            found = self._slots[key] = Slot()
            self._calls.flow.when_wanted(found, partial(self._calls.demand.of_attribute, name))
            self._calls.places.watch(found, Place(receiver.info.path, name, is_wide=True, owner=receiver.info))
            self._look_up(receiver, name, after, found)
        return self._slots[key]

    def getters(self, receiver: _Receiver, name: str) -> Slot[Value]:
        """The functions that run when an attribute is read: those of a property."""
        self.of(receiver, name)
        return self._getters.setdefault((receiver, name), Slot())

    def outside(self, info: ClassInfo, name: str) -> Slot[Value]:
        """What code outside the class stores in an attribute of its objects."""
        return self._outside.setdefault((info, name), Slot())

    def contents(self, info: ClassInfo) -> Slot[Value]:
        """What is put into a class that is a container, such as a subclass of torch.nn.Sequential."""
        if info not in self._contents:
            found = self._contents[info] = Slot()
            self._calls.flow.when_wanted(found, partial(self._calls.demand.of_contents, info))
        return self._contents[info]

    def defines(self, info: ClassInfo, name: str) -> bool:
        """True when a class, or a base in the given files, has a method or other class attribute of this name."""
        return any(name in self._bindings(cls) for cls in self._order(info))

    def called_methods(self, value: InstanceValue) -> list[Slot[Value]]:
        """What calling an object runs: `__call__`, and `forward` when it may be a torch.nn.Module."""
        names = ["__call__"]
        if self._calls.classes.kind(value.info) is not ModuleKind.OTHER:
            names.append("forward")
        found = [self.of(value, name) for name in names if self.defines(value.info, name) or name == "forward"]
        return found if self.defines(value.info, "forward") else [*found, self.contents(value.info)]

    def construct(self, info: ClassInfo, application: Application) -> None:
        """Let the arguments of a constructor flow on."""
        calls = self._calls
        if self.defines(info, "__init__"):
            calls.flow.watch(
                self.of(InstanceValue(info), "__init__"), lambda found: calls.applications.apply(found, application)
            )
        else:
            calls.applications.apply(FillingValue(info), application)

    def iterate(self, value: Value, result: Slot[Value]) -> None:
        """Let the elements of an object flow on."""
        if isinstance(value, InstanceValue):
            self._calls.flow.link(self.contents(value.info), result)
            for name in _ITERATING:
                if self.defines(value.info, name):
                    self._get(self.of(value, name), result)

    def autograd_steps(self, info: ClassInfo) -> list[Slot[Value]]:
        """The functions that `apply` of a torch.autograd.Function runs."""
        return [self.of(ClassValue(info), name) for name in _AUTOGRAD_STEPS]

    def _read_value(self, value: Value, name: str, result: Slot[Value]) -> None:
        flow = self._calls.flow
        if isinstance(value, InstanceValue | ClassValue):
            flow.link(self.of(value, name), result)
            self._read_inherited(value, None, name, result)
        elif isinstance(value, SuperValue):
            flow.link(self.of(value.receiver, name, value.after), result)
            self._read_inherited(value.receiver, value.after, name, result)
        elif isinstance(value, LibraryValue):
            if value.name.count(".") < _MOST_DOTS:
                flow.link(self._calls.dotted("", f"{value.name}.{name}"), result)
        elif isinstance(value, ModuleValue):
            flow.link(self._calls.module_variable(value.path, name), result)
        elif isinstance(value, PartialValue) and name == "func":
            flow.add(result, value.target)
        elif name in _OF_CALLABLES:
            flow.add(result, value)
        elif name in RETURNING_ELEMENTS and isinstance(value, FunctionValue | BoundValue | PartialValue):
            flow.add(result, GivingValue(value))

    def _read_inherited(self, value: _Receiver, after: ClassInfo | None, name: str, result: Slot[Value]) -> None:
        """Attributes that a base outside the given files has."""
        if any(name in self._bindings(cls) for cls in self._order(value.info, after)):
            return
        flow, is_object = self._calls.flow, isinstance(value, InstanceValue)
        if isinstance(value, InstanceValue) and self._calls.classes.kind(value.info) is not ModuleKind.OTHER:
            self._read_of_module(value, name, result)
        if name == "__call__" and isinstance(value, InstanceValue):
            for method in self.called_methods(value):
                flow.link(method, result)
        elif name in RETURNING_ELEMENTS:
            flow.add(result, GivingValue(value))
        elif name == "apply" and not is_object and self._calls.classes.inherits(value.info, "torch.autograd.Function"):
            flow.add(result, AutogradValue(value.info))

    def _read_of_module(self, value: InstanceValue, name: str, result: Slot[Value]) -> None:
        flow = self._calls.flow
        if name == "compile":
            flow.add(result, CompilingValue(value))
        elif name in RETURNING_SELF:
            flow.add(result, GivingValue(value))
        elif name in RETURNING_CHILDREN:
            flow.depend(self._children(value), result)
            flow.watch(self._children(value), lambda child: flow.add(result, GivingValue(child)))
        elif name in _FILLING:
            flow.add(result, FillingValue(value.info))

    def _look_up(self, receiver: _Receiver, name: str, after: ClassInfo | None, result: Slot[Value]) -> None:
        if after is None:
            self._calls.flow.link(self.outside(receiver.info, name), result)
            for cls in self._order(receiver.info):
                self._link_stores(cls, name, receiver, result)
            if not self._has(receiver.info, name):
                self._look_up_below(receiver, name, result)
        for cls in self._order(receiver.info, after):
            bindings = self._bindings(cls).get(name)
            if bindings:
                frame = self._calls.frames.around_definition(cls.path, cls.node)
                slot = self._calls.variable(cls.path, cls.node, name, bindings, frame)
                self._calls.flow.depend(slot, result)
                self._calls.flow.watch(slot, lambda value: self._bind(value, receiver, name, result))
                break

    def _look_up_below(self, receiver: _Receiver, name: str, result: Slot[Value]) -> None:
        """An attribute that only subclasses have: `self` of a mixin is an object of one of them."""
        if receiver.info not in self._subclasses:
            self._subclasses[receiver.info] = self._find_subclasses(receiver.info)
        for subclass in self._subclasses[receiver.info]:
            if self._has(subclass, name):
                self._calls.flow.link(self.of(replace(receiver, info=subclass), name), result)

    def _find_subclasses(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """The classes below one in the given files; a file that derives from a class has the name of the class."""
        found: dict[ClassInfo, None] = {}
        pending, seen = [info.node.name], {info.node.name}
        while pending:
            for path in self._calls.spotted.naming(pending.pop()):
                for node in self._calls.outlines[path].classes:
                    subclass = self._calls.classes.info(path, node)
                    if subclass not in found and info in self._order(subclass)[1:]:
                        found[subclass] = None
                        if node.name not in seen:
                            seen.add(node.name)
                            pending.append(node.name)
                if not self._calls.outlines.has_room:
                    break
        return tuple(sorted(found, key=lambda subclass: (subclass.path, subclass.node.lineno)))

    def _has(self, info: ClassInfo, name: str) -> bool:
        return any(
            name in self._bindings(cls) or (cls.node, name) in self._calls.outlines[cls.path].stores
            for cls in self._order(info)
        )

    def _link_stores(self, cls: ClassInfo, name: str, receiver: _Receiver, result: Slot[Value]) -> None:
        for store in self._calls.outlines[cls.path].stores.get((cls.node, name), ()):
            self._link_store(cls, store, receiver, result)

    def _link_store(self, cls: ClassInfo, store: Store, receiver: _Receiver, result: Slot[Value]) -> None:
        calls = self._calls
        calls.put_annotated(cls.path, store.annotation, result)
        if store.value is not None:
            frame = calls.frames.of_method(cls.path, store.holder, receiver.info)
            slot = calls.slot(store.value, frame)
            calls.flow.link(calls.elements(slot) if store.element else slot, result)

    def _bind(self, value: Value, receiver: _Receiver, name: str, result: Slot[Value]) -> None:
        """Methods get their first argument; what the class body stores otherwise stays as it is."""
        kinds: list[str] = []
        inner = value
        while isinstance(inner, WrappedValue):
            kinds.append(inner.kind)
            inner = inner.target
        if isinstance(inner, FunctionValue) and STATIC not in kinds:
            if CLASS_METHOD in kinds or name in ("__init_subclass__", "__class_getitem__"):
                inner = BoundValue(inner, ClassValue(receiver.info))
            elif isinstance(receiver, InstanceValue):
                inner = BoundValue(inner, receiver)
        for kind in reversed(kinds):
            if kind not in (STATIC, CLASS_METHOD, PROPERTY):
                inner = WrappedValue(inner, kind)
        if PROPERTY in kinds and isinstance(receiver, InstanceValue):
            getters = self._getters.setdefault((receiver, name), Slot())
            self._calls.flow.add(getters, inner)
            self._get_one(inner, result)
        else:
            self._calls.flow.add(result, inner)

    def _get(self, getters: Slot[Value], result: Slot[Value]) -> None:
        self._calls.flow.watch(getters, lambda getter: self._get_one(getter, result))

    def _get_one(self, getter: Value, result: Slot[Value]) -> None:
        self._calls.applications.call_without_arguments(getter, result)

    def _children(self, value: InstanceValue) -> Slot[Value]:
        key = (value, "children()", None)
        if key not in self._slots:
            found = self._slots[key] = Slot()
            self._calls.flow.link(self.contents(value.info), found)
            for cls in self._order(value.info):
                for owner, name in self._calls.outlines[cls.path].stores:
                    if owner is cls.node:
                        self._link_stores(cls, name, value, found)
        return self._slots[key]

    def _order(self, info: ClassInfo, after: ClassInfo | None = None) -> list[ClassInfo]:
        order = [cls for cls in self._calls.classes.order(info) if isinstance(cls, ClassInfo)]
        return order[order.index(after) + 1 :] if after in order else order

    def _bindings(self, cls: ClassInfo) -> dict[str, list[Binding]]:
        return self._calls.project.names_of(cls.path).local_bindings(cls.node)
