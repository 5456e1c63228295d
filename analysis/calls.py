"""What calls reach: callables, followed through names, attributes, arguments and returns.

This is a may-analysis without order: a name has every value that any assignment gives it, and a
container is the union of its elements. Functions are analysed once per class of `self`, and those
that make closures of their parameters once per call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from gbfix.analysis.attributes import Attributes
from gbfix.analysis.callables import (
    CLASS_METHOD,
    ENDED,
    PROPERTY,
    SKIPPED,
    STATIC,
    Arguments,
    BoundValue,
    ClassValue,
    CompilingValue,
    FillingValue,
    Frame,
    FunctionValue,
    GivingValue,
    InstanceValue,
    LibraryValue,
    ModuleValue,
    PartialValue,
    Star,
    SuperValue,
    Value,
    WrappedValue,
)
from gbfix.analysis.classes import Classes, ClassInfo
from gbfix.analysis.exports import Exports
from gbfix.analysis.library import HANDING_ON_BUILTINS, OPTIMIZER, Effect, LibraryFunction, library_function
from gbfix.analysis.modules import Modules
from gbfix.analysis.names import Binding, Scope
from gbfix.analysis.outline import ANY_ATTRIBUTE, Definition, Holder, Outline
from gbfix.analysis.slots import Flow, Slot
from gbfix.analysis.source import Function, FunctionNode

if TYPE_CHECKING:
    from gbfix.analysis.project import Project

_LARGEST_NESTING = 4  # of partial objects in partial objects: `f = partial(f, x)` has no end
_BUILTIN_WRAPPERS = {"staticmethod": STATIC, "classmethod": CLASS_METHOD, "property": PROPERTY}


@dataclass(frozen=True, eq=False)
class Application:
    """A callable being called: by a call, or as a decorator."""

    site: ast.expr | None
    frame: Frame | None
    callee: Slot[Value]
    arguments: Arguments
    result: Slot[Value]
    is_decorator: bool = False
    is_covered: bool = False
    """True for a decorator under one that keeps Dynamo out."""
    called: set[Value] = field(default_factory=set)
    """The objects that were called here, for one that ends up calling itself."""


@dataclass(frozen=True, eq=False)
class Compilation:
    """A place that compiles the values of `target`."""

    application: Application
    target: Slot[Value]
    is_optimize: bool = False
    """True for `torch._dynamo.optimize`, whose options have other names."""
    in_place: bool = False
    """True for `module.compile()`, which compiles `forward` only."""


class Calls:
    """The slots of a project's expressions; `run` fills those that were asked for."""

    def __init__(
        self, project: Project, on_compilation: Callable[[Compilation], None], on_frame: Callable[[Frame], None]
    ) -> None:
        """`on_compilation` is told of each place that compiles, `on_frame` of each frame made."""
        self.project = project
        self.flow: Flow[Value] = Flow()
        self.modules = Modules(project.files, self._binds)
        self._exports = Exports(project, self.modules)
        self.classes = Classes(project, self.modules, self._exports)
        self.outlines = {path: Outline(project.names_of(path)) for path in sorted(project.files)}
        self.attributes = Attributes(self)
        self.on_compilation = on_compilation
        self.on_frame = on_frame
        self._frames: dict[tuple[object, ...], Frame] = {}
        self._dotted: dict[tuple[str, ...], Slot[Value]] = {}
        self._inert: set[Slot[Value]] = set()  # library functions that do nothing with callables, as most
        self._unanswered: list[tuple[Slot[Value], Slot[Value]]] = []
        self._makes_closures: dict[Function, bool] = {}
        self._attribute_names = self.attributes.known_names()

    def run(self) -> None:
        """Fill the slots. A decorator of which nothing is known gives back what it decorates."""
        self.flow.run()
        while self._unanswered:
            unanswered, self._unanswered = self._unanswered, []
            for target, result in unanswered:
                if not result.values:
                    self.flow.link(target, result)
            self.flow.run()

    # Frames

    def default_frame(self, path: str, holder: Holder) -> Frame:
        """The frame of a holder called from anywhere."""
        if isinstance(holder, ast.Module):
            return self._frame(path, holder, None, None, None)
        function = self.project.files[path].function_of_node[holder]
        return self._frame(path, holder, self.outer_frame(path, holder), self._owner(path, function), None)

    def outer_frame(self, path: str, node: ast.AST) -> Frame:
        """The default frame around a def or class."""
        names = self.project.names_of(path)
        return self.default_frame(path, self.outlines[path].holder_of(names.scope_of(node)))

    def method_frame(self, path: str, holder: Holder, receiver: ClassInfo) -> Frame:
        """The frame of a method as called on an object of a class; the default one of a function inside a method."""
        frame = self.default_frame(path, holder)
        is_method = frame.receiver is not None
        return self._frame(path, holder, frame.outer, receiver, None) if is_method else frame

    def called_frame(self, function: FunctionValue, receiver: ClassInfo | None, site: ast.AST | None) -> Frame:
        """The frame that runs when a function is called at a site."""
        owner = self._owner(function.path, function.function)
        context = site if receiver is None and owner is None and self._closes(function) else None
        return self._frame(function.path, function.function.node, function.outer, receiver or owner, context)

    def frames(self) -> list[Frame]:
        """Every frame made so far."""
        return list(self._frames.values())

    def _frame(
        self, path: str, holder: Holder, outer: Frame | None, receiver: ClassInfo | None, context: ast.AST | None
    ) -> Frame:
        key = (path, holder, outer, receiver, context)
        if key not in self._frames:
            function = None if isinstance(holder, ast.Module) else self.project.files[path].function_of_node[holder]
            self._frames[key] = Frame(path, holder, function, outer, receiver)
            self.on_frame(self._frames[key])
        return self._frames[key]

    def _owner(self, path: str, function: Function) -> ClassInfo | None:
        return None if function.owner is None else self.classes.info(path, function.owner)

    def _closes(self, value: FunctionValue) -> bool:
        """True when a function inside uses a parameter."""
        function = value.function
        if function not in self._makes_closures:
            names = self.project.names_of(value.path)
            inner = (n for n in ast.walk(function.node) if isinstance(n, FunctionNode) and n is not function.node)
            self._makes_closures[function] = any(
                isinstance(node, ast.Name)
                and names.lookup(node.id, node)[0] is function.node
                and any(isinstance(binding.node, ast.arg) for binding in names.bindings(node.id, node))
                for holder in inner
                for node in ast.walk(holder)
            )
        return self._makes_closures[function]

    def _frame_around(self, frame: Frame, scope: Scope) -> Frame:
        """The frame, of this one and those around it, that runs the code of a scope."""
        holder = self.outlines[frame.path].holder_of(scope)
        current: Frame | None = frame
        while current is not None and current.holder is not holder:
            current = current.outer
        return self.default_frame(frame.path, holder) if current is None else current

    # Expressions

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
                return self.dotted(frame.path, qualified)
            if node.attr not in self._attribute_names:
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
            for binding in bindings:
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
        return self.variable(path, tree, name, names.bindings(name, tree), self.default_frame(path, tree))

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
        """Add an object of each given class that an annotation names."""
        if annotation is not None:
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
        return self.variable(frame.path, scope, node.id, bindings, self._frame_around(frame, scope))

    def _bind(self, binding: Binding, frame: Frame, slot: Slot[Value]) -> None:
        node = binding.node
        outline = self.outlines[frame.path]
        if binding.qualified is not None:
            self.flow.link(self.dotted(frame.path, binding.qualified), slot)
        elif isinstance(node, Definition):
            self.flow.link(self.definition(node, self._frame_running(node, frame)), slot)
        elif isinstance(node, ast.arg):
            self._bind_parameter(node, frame, slot)
        else:
            self.put_annotated(frame.path, outline.annotations.get(node), slot)
            for value, is_element in outline.assigned.get(node, ()):
                self._put(value, is_element, frame, slot)

    def _put(self, value: ast.expr, is_element: bool, frame: Frame, slot: Slot[Value]) -> None:
        found = self.slot(value, self._frame_running(value, frame))
        self.flow.link(self.elements(found) if is_element else found, slot)

    def _frame_running(self, node: ast.AST, frame: Frame) -> Frame:
        """`frame` when it runs the node, else the default one: a function may store a global."""
        return self._frame_around(frame, self.project.names_of(frame.path).scope_of(node))

    def _bind_parameter(self, parameter: ast.arg, frame: Frame, slot: Slot[Value]) -> None:
        self.put_annotated(frame.path, parameter.annotation, slot)
        function, arguments = frame.function, frame.holder.args if not isinstance(frame.holder, ast.Module) else None
        if function is None or arguments is None:
            return
        positional = [*arguments.posonlyargs, *arguments.args]
        if function.owner is not None and positional[:1] == [parameter]:
            receiver = self.receiver(frame)
            if receiver is not None:
                self.flow.add(slot, receiver)
        defaults: list[tuple[ast.arg, ast.expr | None]] = [
            *zip(reversed(positional), reversed(arguments.defaults), strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for owner, default in defaults:
            if owner is parameter and default is not None and frame.outer is not None:
                self.flow.link(self.slot(default, frame.outer), slot)

    def receiver(self, frame: Frame) -> InstanceValue | ClassValue | None:
        """What `self` or `cls` is in the frame of a method."""
        if frame.function is None or frame.receiver is None or isinstance(frame.holder, ast.Module | ast.Lambda):
            return None
        names = self.project.names_of(frame.path)
        decorators = frame.holder.decorator_list
        if any(names.is_builtin(decorator, "staticmethod") for decorator in decorators):
            return None
        is_class_method = frame.function.name in ("__new__", "__init_subclass__", "__class_getitem__") or any(
            names.is_builtin(decorator, "classmethod") for decorator in decorators
        )
        return ClassValue(frame.receiver) if is_class_method else InstanceValue(frame.receiver)

    def _defined(self, node: Definition, frame: Frame) -> Value:
        if isinstance(node, ast.ClassDef):
            return ClassValue(self.classes.info(frame.path, node))
        return FunctionValue(frame.path, self.project.files[frame.path].function_of_node[node], frame)

    def _decorate(self, decorator: ast.expr, target: Slot[Value], frame: Frame, is_covered: bool) -> Slot[Value]:
        result: Slot[Value] = Slot()
        names = self.project.names_of(frame.path)
        for builtin, kind in _BUILTIN_WRAPPERS.items():
            if names.is_builtin(decorator, builtin):
                self.flow.watch(target, partial(self._wrap, kind, result))
                return result
        callee = self.slot(decorator, frame)
        if callee is None:
            return target
        arguments = Arguments([target], {}, {}, [decorator])
        self._apply_all(Application(decorator, frame, callee, arguments, result, True, is_covered))
        self._unanswered.append((target, result))
        return result

    def _ends(self, decorator: ast.expr, path: str) -> bool:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        known = library_function(self.project.names_of(path).qualified(function) or "")
        return known is not None and known.effect is Effect.END

    def _wrap(self, kind: str, result: Slot[Value], value: Value) -> None:
        is_wrapped_so = isinstance(value, WrappedValue) and value.kind == kind
        if is_wrapped_so or _nesting(value) < _LARGEST_NESTING:
            self.flow.add(result, value if is_wrapped_so else WrappedValue(value, kind))

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

    # Calls

    def _expand_call(self, node: ast.Call, frame: Frame, slot: Slot[Value]) -> None:
        if isinstance(node.func, ast.Name) and self.project.names_of(frame.path).is_builtin(node.func, node.func.id):
            self._call_builtin(node.func.id, node, frame, slot)
            return
        callee = self.slot(node.func, frame)
        if callee is not None and callee not in self._inert:
            self._apply_all(Application(node, frame, callee, self.arguments(node, frame), slot))

    def _apply_all(self, application: Application) -> None:
        self.flow.watch(application.callee, lambda value: self.apply(value, application))

    def arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        """The arguments of a call as slots."""
        found = Arguments()
        for argument in node.args:
            is_starred = isinstance(argument, ast.Starred)
            found.positional.append(self._star(argument, frame) if is_starred else self.slot(argument, frame))
            found.positional_expressions.append(argument)
        for keyword in node.keywords:
            if keyword.arg is not None:
                found.keywords[keyword.arg] = self.slot(keyword.value, frame)
                found.expressions[keyword.arg] = keyword.value
        return found

    def _star(self, argument: ast.expr, frame: Frame) -> Star | None:
        value = argument.value if isinstance(argument, ast.Starred) else argument
        slot = self.slot(value, frame)
        if slot is None:
            return None
        if isinstance(value, ast.Name):
            scope = self.project.names_of(frame.path).lookup(value.id, value)[0]
            if isinstance(scope, FunctionNode) and scope.args.vararg and scope.args.vararg.arg == value.id:
                around = self._frame_around(frame, scope)
                return Star(self._extra(around, 0), self._extra(around, 1))
        elements = self.elements(slot)
        return Star(elements, elements)

    def _extra(self, frame: Frame, index: int) -> Slot[Value]:
        """What lands in `*args`: the first element, or the others."""
        key = ("*", index)
        if key not in frame.slots:
            frame.slots[key] = Slot()
            vararg = None if isinstance(frame.holder, ast.Module) else frame.holder.args.vararg
            if vararg is not None:
                self.flow.link(frame.slots[key], self._parameter(vararg, frame))
        return frame.slots[key]

    def _parameter(self, parameter: ast.arg, frame: Frame) -> Slot[Value]:
        names = self.project.names_of(frame.path)
        scope = frame.holder
        bindings = names.local_bindings(scope).get(parameter.arg, [])
        return self.variable(frame.path, scope, parameter.arg, bindings, frame)

    def _call_builtin(self, name: str, node: ast.Call, frame: Frame, slot: Slot[Value]) -> None:
        if name == "super":
            method: Frame | None = frame
            while method is not None and method.receiver is None:
                method = method.outer
            receiver = None if method is None else self.receiver(method)
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
                self.flow.watch(wrapped, partial(self._wrap, _BUILTIN_WRAPPERS[name], slot))
        elif name in HANDING_ON_BUILTINS:
            for argument in self.arguments(node, frame).slots():
                self.flow.link(self.elements(argument), slot)

    def call_without_arguments(self, value: Value, result: Slot[Value]) -> None:
        """Let the result of calling a property or iterator flow on."""
        self.apply(value, Application(None, None, Slot(), Arguments(), result))

    def apply(self, value: Value, application: Application) -> None:
        """Let arguments flow into what is called, and its result back."""
        flow, result = self.flow, application.result
        if isinstance(value, FunctionValue):
            self._enter(self.called_frame(value, None, application.site), application, 0)
        elif isinstance(value, BoundValue):
            frame = self.called_frame(value.function, value.receiver.info, application.site)
            self._give(frame, 0, value.receiver)
            self._enter(frame, application, 1)
        elif isinstance(value, ClassValue):
            flow.add(result, InstanceValue(value.info))
            self.attributes.construct(value.info, replace(application, result=Slot()))
        elif isinstance(value, InstanceValue) and value not in application.called:
            application.called.add(value)
            for method in self.attributes.called_methods(value):
                flow.watch(method, lambda found: self.apply(found, application))
        elif isinstance(value, LibraryValue):
            self._apply_library(value, application)
        elif isinstance(value, PartialValue):
            arguments = value.arguments.then(application.arguments)
            self.apply(value.target, replace(application, arguments=arguments))
        elif isinstance(value, WrappedValue):
            self._apply_wrapped(value, application)
        elif isinstance(value, GivingValue):
            flow.add(result, value.target)
        elif isinstance(value, FillingValue):
            for slot in application.arguments.slots():
                flow.link(self.elements(slot), self.attributes.contents(value.info))
        elif isinstance(value, CompilingValue):
            target: Slot[Value] = Slot()
            flow.add(target, value.target)
            self.on_compilation(Compilation(application, target, in_place=True))

    def _apply_wrapped(self, value: WrappedValue, application: Application) -> None:
        if isinstance(value.target, ClassValue):
            made: Slot[Value] = Slot()
            self.apply(value.target, replace(application, result=made))
            self.flow.watch(made, partial(self._wrap, value.kind, application.result))
        else:
            self.apply(value.target, application)

    def _enter(self, frame: Frame, application: Application, offset: int) -> None:
        self._pass(application.arguments, frame, offset)
        self.flow.link(self._returned(frame), application.result)

    def _pass(self, arguments: Arguments, frame: Frame, offset: int) -> None:
        if isinstance(frame.holder, ast.Module):
            return
        taken = frame.holder.args
        positional = [*taken.posonlyargs, *taken.args]
        for index, slot in enumerate(arguments.positional, offset):
            if isinstance(slot, Star):
                self._pass_star(slot, index, frame, positional)
            elif slot is not None and index < len(positional):
                self.flow.link(slot, self._parameter(positional[index], frame))
            elif slot is not None and taken.vararg:
                self.flow.link(slot, self._extra(frame, min(index - len(positional), 1)))
        by_name = {parameter.arg: parameter for parameter in [*taken.args, *taken.kwonlyargs]}
        for name, slot in arguments.keywords.items():
            parameter = by_name.get(name, taken.kwarg)
            if parameter is not None and slot is not None:
                self.flow.link(slot, self._parameter(parameter, frame))

    def _pass_star(self, star: Star, index: int, frame: Frame, positional: list[ast.arg]) -> None:
        for place, parameter in enumerate(positional[index:]):
            self.flow.link(star.first if place == 0 else star.rest, self._parameter(parameter, frame))
        if not isinstance(frame.holder, ast.Module) and frame.holder.args.vararg:
            self.flow.link(star.first if index >= len(positional) else star.rest, self._extra(frame, 0))
            self.flow.link(star.rest, self._extra(frame, 1))

    def _give(self, frame: Frame, index: int, value: Value) -> None:
        if isinstance(frame.holder, ast.Module):
            return
        positional = [*frame.holder.args.posonlyargs, *frame.holder.args.args]
        if index < len(positional):
            self.flow.add(self._parameter(positional[index], frame), value)
        elif frame.holder.args.vararg:
            self.flow.add(self._extra(frame, 0), value)

    def _returned(self, frame: Frame) -> Slot[Value]:
        key = ("return",)
        if key not in frame.slots:
            frame.slots[key] = Slot()
            self.flow.later(partial(self._expand_returned, frame, frame.slots[key]))
        return frame.slots[key]

    def _expand_returned(self, frame: Frame, slot: Slot[Value]) -> None:
        if isinstance(frame.holder, ast.FunctionDef | ast.AsyncFunctionDef):
            self.put_annotated(frame.path, frame.holder.returns, slot)
        for value in self.outlines[frame.path].actions_of(frame.holder).returned:
            self.flow.link(self.slot(value, frame), slot)

    def _apply_library(self, value: LibraryValue, application: Application) -> None:
        known, arguments, result = library_function(value.name), application.arguments, application.result
        if known is None:
            if application.is_decorator:
                self.flow.link(_argument(arguments, 0, ""), result)
        elif known.effect is Effect.OPTIMIZE:
            self.flow.add(result, PartialValue(LibraryValue(OPTIMIZER), arguments))
        elif known.effect is Effect.HAND_ON:
            for slot in arguments.slots():
                self.flow.link(slot, result)
        elif not _has_argument(arguments, known):
            if arguments.merged < _LARGEST_NESTING:
                self.flow.add(result, PartialValue(value, arguments))
        else:
            target = _argument(arguments, known.position, known.keyword)
            if target is not None:
                self._apply_effect(value, known, target, application)

    def _apply_effect(
        self, value: LibraryValue, known: LibraryFunction, target: Slot[Value], application: Application
    ) -> None:
        arguments, result = application.arguments, application.result
        if known.effect is Effect.COMPILE:
            self.flow.link(target, result)
            self.on_compilation(Compilation(application, target, is_optimize=value.name == OPTIMIZER))
        elif known.effect is Effect.PARTIAL:
            bound = replace(arguments, positional=arguments.positional[1:])
            self.flow.watch(target, lambda found: self._bind_partial(found, bound, result))
        elif known.effect is Effect.PROPERTY:
            self.flow.watch(target, partial(self._wrap, PROPERTY, result))
        else:
            kind = SKIPPED if known.effect is Effect.SKIP or _is_false(arguments, "recursive", 1) else ENDED
            self.flow.watch(target, partial(self._wrap, kind, result))

    def _bind_partial(self, value: Value, arguments: Arguments, result: Slot[Value]) -> None:
        if _nesting(value) < _LARGEST_NESTING:
            self.flow.add(result, PartialValue(value, arguments))


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


def _has_argument(arguments: Arguments, function: LibraryFunction) -> bool:
    is_positional = function.position < len(arguments.positional)
    return (is_positional and bool(arguments.positional)) or function.keyword in arguments.keywords


def _argument(arguments: Arguments, position: int, keyword: str) -> Slot[Value] | None:
    if keyword in arguments.keywords:
        return arguments.keywords[keyword]
    found = arguments.positional[position] if position < len(arguments.positional) else None
    return found.first if isinstance(found, Star) else found


def _is_false(arguments: Arguments, keyword: str, position: int) -> bool:
    expression = arguments.expressions.get(keyword)
    if expression is None and position < len(arguments.positional_expressions):
        expression = arguments.positional_expressions[position]
    return isinstance(expression, ast.Constant) and expression.value is False


def _nesting(value: Value) -> int:
    depth = 0
    while isinstance(value, PartialValue | WrappedValue):
        value = value.target
        depth += 1
    return depth
