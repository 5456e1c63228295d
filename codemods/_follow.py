"""What becomes of a compiled function in a program: the names and attributes that hold it, and their calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.names import Scope
from gbfix.analysis.project import FileView, Project
from gbfix.analysis.source import Function, FunctionNode
from gbfix.codemods._compile_spellings import compile_call, compiles
from gbfix.engine.dataclass import dataclass

TRANSPARENT = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled"})
"""Decorators that hand all arguments on."""
_ONLY_LOOK = ("print", "isinstance", "hasattr", "getattr", "setattr", "id", "type", "repr", "str", "callable", "len")
"""Builtins that do not call what they are given."""


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call in a file. is_certain: False when it may also call something else."""

    view: FileView
    call: ast.Call
    is_certain: bool = True


@dataclass(frozen=True)
class Missed:
    """A use of the compiled function whose calls are not followed, in words."""

    path: str
    line: int
    text: str


Found = CallSite | Missed


class Follower:
    """Follows the compiled function from what it is called first to its calls."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._seen: set[tuple[ast.AST, str]] = set()

    def of_decorated(self, view: FileView, function: Function, compiling: ast.expr) -> Iterator[Found]:
        """The calls of a function by its own name."""
        node = function.node
        assert not isinstance(node, ast.Lambda)
        for decorator in node.decorator_list[: node.decorator_list.index(compiling)]:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if view.names.qualified(called) not in TRANSPARENT and not view.names.is_builtin(called, "staticmethod"):
                text = f"{view.source.segment(decorator)}, above the decorator that compiles, may pass other tensors"
                yield Missed(view.source.path, decorator.lineno, text)
                return
        if function.owner is None:
            yield from self._of_name(view, node.name, node)
        else:
            yield from self._of_method(view, function.owner, node.name)

    def of_compile_call(self, view: FileView, line: int) -> Iterator[Found]:
        """The calls of what a call of torch.compile in a line makes."""
        call = compile_call(view, line)
        if call is None:
            yield Missed(view.source.path, line, f"it is compiled in line {line} in a way that is not followed")
        elif not compiles(view, call):
            assert isinstance(call.func, ast.Attribute)
            yield from self._of_target(view, call.func.value)
        else:
            yield from self._use(view, call)

    def _of_target(self, view: FileView, target: ast.expr) -> Iterator[Found]:
        match target:
            case ast.Name(id=name):
                yield from self._of_name(view, name, target)
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                owner = next((p for p in view.source.ancestors(target) if isinstance(p, ast.ClassDef)), None)
                if owner is not None:
                    yield from self._of_attribute(view, owner, attribute)
            case ast.Attribute(value=ast.Name(id=name) as base, attr="forward"):
                yield from self._of_name(view, name, base)
            case _:
                text = f"what becomes of {view.source.segment(target)} is not followed"
                yield Missed(view.source.path, target.lineno, text)

    def _of_name(self, view: FileView, name: str, binder: ast.AST) -> Iterator[Found]:
        """The calls of a name in its file and in those that import it. binder: what binds it, or a use of it."""
        scope = view.names.lookup(name, binder)[0]
        binds = isinstance(binder, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(
            getattr(binder, "ctx", None), ast.Load
        )
        for use in view.names.loads.get(name, ()):
            found_in, bindings = view.names.lookup(name, use)
            if found_in is not scope or (binds and all(binding.node is not binder for binding in bindings)):
                continue
            same_block = view.names.scope_of(use) is view.names.scope_of(binder)
            if (
                same_block
                and (use.lineno, use.col_offset) < _end_of_statement(view, binder)
                and not _in_loop(view, use)
            ):
                continue  # it is not compiled yet
            yield from self._use(view, use)
        if scope is view.source.tree:
            for path, local in self._project.importers.of(view.source.path, name):
                other = self._project.view(path)
                for use in other.names.loads.get(local, ()):
                    yield from self._use(other, use)

    def _of_parameter(self, view: FileView, function: FunctionNode, name: str) -> Iterator[Found]:
        """The calls of a parameter, which may be something else at other calls of its function."""
        if (function, name) in self._seen:
            return
        self._seen.add((function, name))
        for use in view.names.loads.get(name, ()):
            if view.names.lookup(name, use)[0] is function:
                for found in self._use(view, use):
                    yield CallSite(found.view, found.call, is_certain=False) if isinstance(found, CallSite) else found

    def _of_attribute(self, view: FileView, owner: ast.ClassDef, attribute: str) -> Iterator[Found]:
        """The calls of `self.NAME` in a class."""
        if (owner, attribute) in self._seen:
            return
        self._seen.add((owner, attribute))
        for node in ast.walk(owner):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()) if name == attribute:
                    yield from self._use(view, node)

    def _of_method(self, view: FileView, owner: ast.ClassDef, method: str) -> Iterator[Found]:
        """The calls of a method of `self`, and of objects that names of the files hold."""
        yield from self._of_attribute(view, owner, method)
        for where, made in self._instances(view, owner):
            for use in where.names.loads.get(made, ()):
                parent = where.source.parents[use]
                if isinstance(parent, ast.Attribute) and parent.attr == method:
                    yield from self._use(where, parent)
                elif method in ("forward", "__call__"):
                    yield from self._use(where, use)

    def _instances(self, view: FileView, owner: ast.ClassDef) -> Iterator[tuple[FileView, str]]:
        """The names that are bound to a new object of a class, with their files."""
        named = [
            (view, use)
            for use in view.names.loads.get(owner.name, ())
            if any(binding.node is owner for binding in view.names.bindings(use.id, use))
        ]
        for path, local in self._project.importers.of(view.source.path, owner.name):
            other = self._project.view(path)
            named += [(other, use) for use in other.names.loads.get(local, ())]
        for where, use in named:
            call = where.source.parents[use]
            while isinstance(call, ast.Call | ast.Attribute):  # Net().eval()
                parent = where.source.parents[call]
                match parent:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
                        yield where, name
                call = parent

    def _use(self, view: FileView, use: ast.expr) -> Iterator[Found]:
        """A call, or a use from which others may call it. Reading an attribute of it calls nothing."""
        parent = view.source.parents[use]
        match parent:
            case ast.Call(func=function) if function is use:
                yield CallSite(view, parent)
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
                yield from self._of_target(view, target)
            case ast.Call() | ast.keyword():
                yield from self._handed_on(view, use, parent)
            case ast.Attribute() | ast.Expr() | ast.Compare() | ast.Delete():
                return
            case _:
                yield _handed(view, use)

    def _handed_on(self, view: FileView, use: ast.expr, parent: ast.Call | ast.keyword) -> Iterator[Found]:
        """What a function or class of the project, which the compiled function is passed to, does with it."""
        call = parent if isinstance(parent, ast.Call) else view.source.parents[parent]
        assert isinstance(call, ast.Call)
        if compiles(view, call) or any(view.names.is_builtin(call.func, name) for name in _ONLY_LOOK):
            return
        found = definition_of(view, call.func)
        if found is None:
            yield _handed(view, use)
            return
        where, node = found
        function = node if isinstance(node, FunctionNode) else _constructor(node)
        offset = 0 if node is function else 1
        name = parameter_of(function, call, parent, use, offset) if function is not None else None
        if function is None or name is None:
            yield _handed(view, use)
            return
        yield from self._of_parameter(where, function, name)
        if isinstance(node, ast.ClassDef):
            for part in ast.walk(function):
                match part:
                    case ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=held)], value=ast.Name(id=used)
                    ):
                        if used == name:
                            yield from self._of_attribute(where, node, held)


def definition_of(view: FileView, function: ast.expr) -> tuple[FileView, FunctionNode | ast.ClassDef] | None:
    """The function or class of the project that a name stands for, with its file."""
    binding = view.names.single_definition(function)
    if binding is None:
        return None
    if isinstance(binding.node, ast.FunctionDef | ast.ClassDef):
        return view, binding.node
    for path, name in view.project.importers.defining(view.source.path, binding.name):
        other = view.project.view(path)
        scope: Scope = other.source.tree
        nodes = [one.node for one in other.names.local_bindings(scope).get(name, ())]
        if len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef | ast.ClassDef):
            return other, nodes[0]
    return None


def _handed(view: FileView, use: ast.expr) -> Missed:
    text = view.source.segment(use)
    return Missed(view.source.path, use.lineno, f"{text} is handed on, and calls elsewhere are not followed")


def _constructor(owner: ast.ClassDef) -> ast.FunctionDef | None:
    return next((one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)


def parameter_of(
    function: FunctionNode, call: ast.Call, parent: ast.Call | ast.keyword, use: ast.expr, offset: int
) -> str | None:
    """The name under which a function gets an argument of a call."""
    if isinstance(parent, ast.keyword):
        return parent.arg
    names = [a.arg for a in [*function.args.posonlyargs, *function.args.args]][offset:]
    if use not in call.args:
        return None
    place = call.args.index(use)
    starred = any(isinstance(a, ast.Starred) for a in call.args[:place])
    return names[place] if place < len(names) and not starred else None


def _end_of_statement(view: FileView, node: ast.AST) -> tuple[int, int]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.lineno, node.col_offset
    statement = next(p for p in [node, *view.source.ancestors(node)] if isinstance(p, ast.stmt))
    return statement.end_lineno or 0, statement.end_col_offset or 0


def _in_loop(view: FileView, node: ast.AST) -> bool:
    return any(isinstance(parent, ast.For | ast.AsyncFor | ast.While) for parent in view.source.ancestors(node))
