"""What calls reach: callables, followed through names, attributes, arguments and returns.

This is a may-analysis without order: a name has every value that any assignment gives it, and a
container is the union of its elements. Functions are analysed once per class of `self`, and those
that make closures of their parameters once per call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gbfix.analysis.applications import Application, Applications, Compilation
from gbfix.analysis.attributes import Attributes
from gbfix.analysis.callables import (
    CLASS_METHOD,
    PROPERTY,
    STATIC,
    Arguments,
    ClassValue,
    Frame,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    SuperValue,
    Value,
)
from gbfix.analysis.classes import Classes
from gbfix.analysis.exports import Exports
from gbfix.analysis.frames import Frames
from gbfix.analysis.library import HANDING_ON_BUILTINS, Effect, library_function
from gbfix.analysis.modules import Modules
from gbfix.analysis.names import Binding, Scope
from gbfix.analysis.outline import ANY_ATTRIBUTE, Definition
from gbfix.analysis.outlines import Outlines
from gbfix.analysis.places import Place, Places
from gbfix.analysis.slots import Flow, Slot
from gbfix.analysis.spotted import Spotted

if TYPE_CHECKING:
    from gbfix.analysis.demand import Demand
    from gbfix.analysis.project import Project

_BUILTIN_WRAPPERS = {"staticmethod": STATIC, "classmethod": CLASS_METHOD, "property": PROPERTY}


class Calls:
    """The slots of a project's expressions; `run` fills those that were asked for."""

    def __init__(
        self,
        project: Project,
        demand: Demand,
        on_compilation: Callable[[Compilation], None],
        on_frame: Callable[[Frame], None],
        steps: int,
        room: int | None,
    ) -> None:
        """`demand` is told what matters, `on_compilation` of each place that compiles, `on_frame` of each frame made.

        steps: how many of the flow are allowed. room: how many characters of source may be parsed, None for any number.
        """
        self.project = project
        self.demand = demand
        self.flow: Flow[Value] = Flow(steps)
        self.modules = Modules(project.files, self._binds)
        self._exports = Exports(project, self.modules)
        self.classes = Classes(project, self.modules, self._exports)
        self.spotted = Spotted(project.files)
        self.outlines = Outlines(project, self.spotted, room)
        self.places = Places(self.flow, demand.at_place)
        self.attributes = Attributes(self)
        self.frames = Frames(project, self.outlines, self.classes, on_frame)
        self.applications = Applications(self, on_compilation)
        self._dotted: dict[tuple[str, ...], Slot[Value]] = {}
        self._inert: set[Slot[Value]] = set()  # library functions that do nothing with callables, as most
        self._unanswered: list[tuple[Slot[Value], Slot[Value]]] = []

    def answer(self) -> bool:
        """Let each decorator of which nothing is known give back what it decorates. False when there is none left."""
        unanswered, self._unanswered = self._unanswered, []
        for target, result in unanswered:
            if not result.values:
                self.flow.link(target, result)
        return bool(unanswered)

    def slot(self, node: ast.expr, frame: Frame) -> Slot[Value] | None:
        """The slot of an expression, None for one that can be no callable."""
        if isinstance(node, ast.Name):
            return self._name(node, frame)
        expand = _EXPANSIONS.get(type(node))
        if expand is None:
            return None
        if isinstance(node, ast.Attribute):
            qualified = self.project.names_of(frame.path).qualified(node)
            if qualified is not None:
                return self.imported(frame.path, qualified)
            if node.attr not in self.spotted.attributes:
                return None
        found = frame.slots.get(node)
        if found is None:
            found = frame.slots[node] = Slot()
            self.flow.later(partial(expand, self, node, frame, found))
        return found

    def elements(self, slot: Slot[Value] | None) -> Slot[Value]:
        """What iterating over, or indexing, the values of a slot gives."""
        found: Slot[Value] = Slot()
        if slot is not None:
            self.flow.link(slot, found)
            self.flow.watch(slot, lambda value: self.attributes.iterate(value, found))
        return found

    def variable(self, path: str, scope: Scope, name: str, bindings: list[Binding], frame: Frame) -> Slot[Value]:
        """The slot of a name in a scope that `frame` runs."""
        key = (scope, name)
        if key not in frame.slots:
            found = frame.slots[key] = Slot()
            self.places.watch(found, Place(path, name, isinstance(scope, ast.Module)))
            for binding in bindings:
                if isinstance(binding.node, ast.arg):
                    self.flow.when_wanted(found, partial(self.demand.of_parameter, binding.node, frame))
                self.flow.later(partial(self._bind, binding, frame, found))
            for value, is_element in self.outlines[path].grown.get(key, ()):
                self.flow.later(partial(self._put, value, is_element, frame, found))
        return frame.slots[key]

    def module_variable(self, path: str, name: str) -> Slot[Value] | None:
        """The slot of a name at the top level of a file, None when nothing binds it."""
        if not self._exports.has(path, name):
            return None
        names = self.project.names_of(path)
        tree = names.source.tree
        return self.variable(path, tree, name, names.bindings(name, tree), self.frames.default(path, tree))

    def dotted(self, path: str, dotted: str) -> Slot[Value] | None:
        """The slot of an imported name, such as "torch.compile" or ".helpers.f"."""
        target = self.modules.resolve(path, dotted)
        if target is None:
            return None if dotted.startswith(".") else self._constant((dotted,), LibraryValue(dotted))
        file, rest = target
        slot = self.module_variable(file, rest[0]) if rest else self._constant((file, ""), ModuleValue(file))
        for length in range(2, len(rest) + 1):
            slot = self._attribute_of(slot, (file, *rest[:length]))
        return slot

    def imported(self, path: str, dotted: str) -> Slot[Value] | None:
        """The same; what another of the given files has comes when all is done that needs no more of them."""
        if not self.modules.leads_inside(path, dotted):
            return self.dotted(path, dotted)
        key = (path, "import", dotted)
        if key not in self._dotted:
            found = self._dotted[key] = Slot()
            self.flow.far(lambda: self.flow.link(self.dotted(path, dotted), found))
        return self._dotted[key]

    def definition(self, node: Definition, frame: Frame) -> Slot[Value]:
        """The slot of a def or class, after its decorators."""
        key = (node,)
        if key not in frame.slots:
            found: Slot[Value] = Slot()
            self.flow.add(found, self._defined(node, frame))
            for index, decorator in reversed(list(enumerate(node.decorator_list))):
                is_covered = any(self._ends(outer, frame.path) for outer in node.decorator_list[:index])
                found = self._decorate(decorator, found, frame, is_covered)
            frame.slots[key] = found
        return frame.slots[key]

    def put_annotated(self, path: str, annotation: ast.expr | None, slot: Slot[Value]) -> None:
        """Add an object of each given class that an annotation names, once that matters."""
        if annotation is not None:
            self.flow.when_wanted(slot, lambda: self.flow.far(partial(self._put_annotated, path, annotation, slot)))

    def _put_annotated(self, path: str, annotation: ast.expr, slot: Slot[Value]) -> None:
        for info in self.classes.in_annotation(path, annotation):
            self.flow.add(slot, InstanceValue(info))

    def _binds(self, path: str, name: str) -> bool:
        names = self.project.names_of(path)
        return name in names.local_bindings(names.source.tree)

    def _constant(self, key: tuple[str, ...], value: Value) -> Slot[Value]:
        if key not in self._dotted:
            self._dotted[key] = Slot()
            self.flow.add(self._dotted[key], value)
            if isinstance(value, LibraryValue) and library_function(value.name) is None:
                self._inert.add(self._dotted[key])
        return self._dotted[key]

    def _attribute_of(self, base: Slot[Value] | None, key: tuple[str, ...]) -> Slot[Value] | None:
        if base is None:
            return None
        if key not in self._dotted:
            self._dotted[key] = Slot()
            self.attributes.read(base, key[-1], self._dotted[key])
        return self._dotted[key]

    def _name(self, node: ast.Name, frame: Frame) -> Slot[Value] | None:
        scope, bindings = self.project.names_of(frame.path).lookup(node.id, node)
        if not bindings:
            return None
        return self.variable(frame.path, scope, node.id, bindings, self.frames.around(frame, scope))

    def _bind(self, binding: Binding, frame: Frame, slot: Slot[Value]) -> None:
        node = binding.node
        outline = self.outlines[frame.path]
        if binding.qualified is not None:
            self.flow.link(self.imported(frame.path, binding.qualified), slot)
        elif isinstance(node, Definition):
            self.flow.link(self.definition(node, self.frames.running(node, frame)), slot)
        elif isinstance(node, ast.arg):
            self._bind_parameter(node, frame, slot)
        else:
            self.put_annotated(frame.path, outline.annotations.get(node), slot)
            for value, is_element in outline.assigned.get(node, ()):
                self._put(value, is_element, frame, slot)

    def _put(self, value: ast.expr, is_element: bool, frame: Frame, slot: Slot[Value]) -> None:
        found = self.slot(value, self.frames.running(value, frame))
        self.flow.link(self.elements(found) if is_element else found, slot)

    def _bind_parameter(self, parameter: ast.arg, frame: Frame, slot: Slot[Value]) -> None:
        self.put_annotated(frame.path, parameter.annotation, slot)
        function, arguments = frame.function, frame.holder.args if not isinstance(frame.holder, ast.Module) else None
        if function is None or arguments is None:
            return
        positional = [*arguments.posonlyargs, *arguments.args]
        if function.owner is not None and positional[:1] == [parameter]:
            receiver = self.frames.receiver(frame)
            if receiver is not None:
                self.flow.add(slot, receiver)
        defaults: list[tuple[ast.arg, ast.expr | None]] = [
            *zip(reversed(positional), reversed(arguments.defaults), strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for owner, default in defaults:
            if owner is parameter and default is not None and frame.outer is not None:
                self.flow.link(self.slot(default, frame.outer), slot)

    def _defined(self, node: Definition, frame: Frame) -> Value:
        if isinstance(node, ast.ClassDef):
            return ClassValue(self.classes.info(frame.path, node))
        return FunctionValue(frame.path, self.project.files[frame.path].function_of_node[node], frame)

    def _decorate(self, decorator: ast.expr, target: Slot[Value], frame: Frame, is_covered: bool) -> Slot[Value]:
        result: Slot[Value] = Slot()
        names = self.project.names_of(frame.path)
        for builtin, kind in _BUILTIN_WRAPPERS.items():
            if names.is_builtin(decorator, builtin):
                self.flow.depend(target, result)
                self.flow.watch(target, partial(self.applications.wrap, kind, result))
                return result
        callee = self.slot(decorator, frame)
        if callee is None:
            return target
        arguments = Arguments([target], {}, {}, [decorator])
        self.flow.depend(target, result)
        self._apply_all(Application(decorator, frame, callee, arguments, result, True, is_covered))
        self._unanswered.append((target, result))
        return result

    def _ends(self, decorator: ast.expr, path: str) -> bool:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        known = library_function(self.project.names_of(path).qualified(function) or "")
        return known is not None and known.effect is Effect.END

    def _expand_attribute(self, node: ast.Attribute, frame: Frame, slot: Slot[Value]) -> None:
        base = self.slot(node.value, frame)
        if base is not None:
            self.attributes.read(base, node.attr, slot)

    def _expand_parts(self, node: ast.expr, frame: Frame, slot: Slot[Value]) -> None:
        for part in _parts(node):
            self.flow.link(self.slot(part, frame), slot)

    def _expand_elements(self, node: ast.Subscript | ast.Starred, frame: Frame, slot: Slot[Value]) -> None:
        self.flow.link(self.elements(self.slot(node.value, frame)), slot)

    def _expand_lambda(self, node: ast.Lambda, frame: Frame, slot: Slot[Value]) -> None:
        function = self.project.files[frame.path].function_of_node[node]
        self.flow.add(slot, FunctionValue(frame.path, function, frame))

    def _expand_call(self, node: ast.Call, frame: Frame, slot: Slot[Value]) -> None:
        if isinstance(node.func, ast.Name) and self.project.names_of(frame.path).is_builtin(node.func, node.func.id):
            self._call_builtin(node.func.id, node, frame, slot)
            return
        callee = self.slot(node.func, frame)
        if callee is not None and callee not in self._inert:
            self._apply_all(Application(node, frame, callee, self.applications.arguments(node, frame), slot))

    def _apply_all(self, application: Application) -> None:
        self.flow.depend(application.callee, application.result)
        self.flow.watch(application.callee, lambda value: self.applications.apply(value, application))

    def _call_builtin(self, name: str, node: ast.Call, frame: Frame, slot: Slot[Value]) -> None:
        if name == "super":
            method: Frame | None = frame
            while method is not None and method.receiver is None:
                method = method.outer
            receiver = None if method is None else self.frames.receiver(method)
            if method is not None and receiver is not None and method.function and method.function.owner:
                self.flow.add(slot, SuperValue(receiver, self.classes.info(method.path, method.function.owner)))
        elif name == "getattr" and len(node.args) > 1:
            base = self.slot(node.args[0], frame)
            attribute = node.args[1].value if isinstance(node.args[1], ast.Constant) else ANY_ATTRIBUTE
            if base is not None and isinstance(attribute, str):
                self.attributes.read(base, attribute, slot)
            for default in node.args[2:]:
                self.flow.link(self.slot(default, frame), slot)
        elif name in _BUILTIN_WRAPPERS and node.args:
            wrapped = self.slot(node.args[0], frame)
            if wrapped is not None:
                self.flow.depend(wrapped, slot)
                self.flow.watch(wrapped, partial(self.applications.wrap, _BUILTIN_WRAPPERS[name], slot))
        elif name in HANDING_ON_BUILTINS:
            for argument in self.applications.arguments(node, frame).slots():
                self.flow.link(self.elements(argument), slot)


def _parts(node: ast.expr) -> list[ast.expr]:
    """The expressions inside another that give it its callables."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [node.elt]
    if isinstance(node, ast.NamedExpr | ast.Await | ast.DictComp):
        return [node.value]
    return []


_EXPANSIONS: dict[type[ast.expr], Callable[..., None]] = {
    ast.Attribute: Calls._expand_attribute,
    ast.Call: Calls._expand_call,
    ast.Lambda: Calls._expand_lambda,
    ast.Subscript: Calls._expand_elements,
    ast.Starred: Calls._expand_elements,
    **dict.fromkeys((ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.Dict), Calls._expand_parts),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), Calls._expand_parts),
    **dict.fromkeys((ast.NamedExpr, ast.Await), Calls._expand_parts),
    ast.Name: Calls._expand_parts,
}
