"""The frames of functions: one per class of `self`, and per caller where it matters."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from gbfix.analysis.callables import ClassValue, Frame, FunctionValue, InstanceValue
from gbfix.analysis.classes import Classes, ClassInfo
from gbfix.analysis.names import Scope
from gbfix.analysis.outline import Holder
from gbfix.analysis.outlines import Outlines
from gbfix.analysis.source import Function, FunctionNode

if TYPE_CHECKING:
    from gbfix.analysis.project import Project

_CLASS_METHODS = ("__new__", "__init_subclass__", "__class_getitem__")


class Frames:
    """Makes each frame once."""

    def __init__(
        self, project: Project, outlines: Outlines, classes: Classes, on_frame: Callable[[Frame], None]
    ) -> None:
        """`on_frame` is told of each frame made."""
        self._project = project
        self._outlines = outlines
        self._classes = classes
        self._on_frame = on_frame
        self._frames: dict[tuple[object, ...], Frame] = {}
        self._makes_closures: dict[Function, bool] = {}

    def default(self, path: str, holder: Holder) -> Frame:
        """The frame of a holder called from anywhere."""
        if isinstance(holder, ast.Module):
            return self._make(path, holder, None, None, None)
        function = self._project.files[path].function_of_node[holder]
        return self._make(path, holder, self.around_definition(path, holder), self._owner(path, function), None)

    def around_definition(self, path: str, node: ast.AST) -> Frame:
        """The default frame around a def or class."""
        names = self._project.names_of(path)
        return self.default(path, self._outlines[path].holder_of(names.scope_of(node)))

    def of_method(self, path: str, holder: Holder, receiver: ClassInfo) -> Frame:
        """The frame of a method as called on an object of a class; the default one of a function inside a method."""
        frame = self.default(path, holder)
        is_method = frame.receiver is not None
        return self._make(path, holder, frame.outer, receiver, None) if is_method else frame

    def called(self, function: FunctionValue, receiver: ClassInfo | None, site: ast.AST | None) -> Frame:
        """The frame that runs when a function is called at a site."""
        owner = self._owner(function.path, function.function)
        context = site if receiver is None and owner is None and self._closes(function) else None
        return self._make(function.path, function.function.node, function.outer, receiver or owner, context)

    def around(self, frame: Frame, scope: Scope) -> Frame:
        """The frame, of this one and those around it, that runs the code of a scope."""
        holder = self._outlines[frame.path].holder_of(scope)
        current: Frame | None = frame
        while current is not None and current.holder is not holder:
            current = current.outer
        return self.default(frame.path, holder) if current is None else current

    def running(self, node: ast.AST, frame: Frame) -> Frame:
        """`frame` when it runs the node, else the default one: a function may store a global."""
        return self.around(frame, self._project.names_of(frame.path).scope_of(node))

    def receiver(self, frame: Frame) -> InstanceValue | ClassValue | None:
        """What `self` or `cls` is in the frame of a method."""
        if frame.function is None or frame.receiver is None or isinstance(frame.holder, ast.Module | ast.Lambda):
            return None
        names = self._project.names_of(frame.path)
        decorators = frame.holder.decorator_list
        if any(names.is_builtin(decorator, "staticmethod") for decorator in decorators):
            return None
        is_class_method = frame.function.name in _CLASS_METHODS or any(
            names.is_builtin(decorator, "classmethod") for decorator in decorators
        )
        return ClassValue(frame.receiver) if is_class_method else InstanceValue(frame.receiver)

    def _make(
        self, path: str, holder: Holder, outer: Frame | None, receiver: ClassInfo | None, context: ast.AST | None
    ) -> Frame:
        key = (path, holder, outer, receiver, context)
        if key not in self._frames:
            function = None if isinstance(holder, ast.Module) else self._project.files[path].function_of_node[holder]
            self._frames[key] = Frame(path, holder, function, outer, receiver)
            self._on_frame(self._frames[key])
        return self._frames[key]

    def _owner(self, path: str, function: Function) -> ClassInfo | None:
        return None if function.owner is None else self._classes.info(path, function.owner)

    def _closes(self, value: FunctionValue) -> bool:
        """True when a function inside uses a parameter."""
        function = value.function
        if function not in self._makes_closures:
            names = self._project.names_of(value.path)
            inner = (n for n in ast.walk(function.node) if isinstance(n, FunctionNode) and n is not function.node)
            self._makes_closures[function] = any(
                isinstance(node, ast.Name)
                and names.lookup(node.id, node)[0] is function.node
                and any(isinstance(binding.node, ast.arg) for binding in names.bindings(node.id, node))
                for holder in inner
                for node in ast.walk(holder)
            )
        return self._makes_closures[function]
