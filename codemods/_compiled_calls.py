"""Where a program calls a function that it gave to torch.compile, so that the call starts compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gbfix.analysis.project import FileView, Project
from gbfix.analysis.recompiles import EntrySeen
from gbfix.analysis.source import Function

_TRANSPARENT = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled"})
"""Decorators that hand all arguments on."""


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call in a file. is_bound: its first argument is the parameter behind `self`."""

    view: FileView
    call: ast.Call
    is_bound: bool


@dataclass(frozen=True)
class Missed:
    """A use of the compiled function whose calls are not followed, in words."""

    path: str
    line: int
    text: str


_Found = CallSite | Missed


def calls_of(project: Project, path: str, function: Function, entry: EntrySeen | None) -> list[_Found]:
    """The calls of a compiled function, and the uses of it that lead to calls elsewhere, by file and position.

    entry: how the run saw it given to torch.compile.
    """
    view = project.view(path)
    is_bound = function.owner is not None and not _is_static(view, function)
    at = entry.compiled_at if entry is not None else None
    if _is_decorated(view, function) and (at is None or (at.file == path and _within(view, function, at.line))):
        found = list(_of_decorated(view, function, is_bound=is_bound))
    elif at is None or at.file not in project.files:
        where = f"in {at.file}, which is not among the given files" if at is not None else "in a place not recorded"
        return [Missed(path, function.node.lineno, f"{function.name} is compiled {where}")]
    else:
        found = list(_of_compile_call(project.view(at.file), at.line, is_bound=is_bound))
    return sorted(found, key=_position)


def _position(found: _Found) -> tuple[str, int, int]:
    if isinstance(found, Missed):
        return found.path, found.line, -1
    return found.view.source.path, found.call.lineno, found.call.col_offset


def _is_static(view: FileView, function: Function) -> bool:
    decorators = [] if isinstance(function.node, ast.Lambda) else function.node.decorator_list
    return any(view.names.is_builtin(decorator, "staticmethod") for decorator in decorators)


def _is_decorated(view: FileView, function: Function) -> bool:
    return not isinstance(function.node, ast.Lambda) and any(
        _compiles(view, decorator) for decorator in function.node.decorator_list
    )


def _compiles(view: FileView, decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(decorator, ast.Call) and view.names.qualified(called) == "functools.partial" and decorator.args:
        called = decorator.args[0]
    return view.names.qualified(called) in ("torch.compile", "torch._dynamo.optimize")


def _within(view: FileView, function: Function, line: int) -> bool:
    span = view.source.span(function.node)
    return span.line <= line <= function.node.lineno


def _of_decorated(view: FileView, function: Function, *, is_bound: bool) -> Iterator[_Found]:
    node = function.node
    assert not isinstance(node, ast.Lambda)
    for decorator in node.decorator_list:
        if _compiles(view, decorator):
            break
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if view.names.qualified(called) not in _TRANSPARENT and not view.names.is_builtin(called, "staticmethod"):
            text = (
                f"{view.source.segment(decorator)} stands above the decorator that compiles, and may pass other tensors"
            )
            yield Missed(view.source.path, decorator.lineno, text)
            return
    if function.owner is None:
        yield from _of_name(view, node.name, node, is_bound=is_bound)
    else:
        yield from _of_method(view, function.owner, node.name, is_bound=is_bound)


def _of_compile_call(view: FileView, line: int, *, is_bound: bool) -> Iterator[_Found]:
    """The calls of what a call of torch.compile, or `module.compile()`, in a line makes."""
    source = view.source
    compiling = [
        node
        for node, _ in view.names.nodes()
        if isinstance(node, ast.Call)
        and source.span(node).line <= line <= source.span(node).end_line
        and (_compiles(view, node) or _in_place(node))
    ]
    if len(compiling) != 1:
        yield Missed(source.path, line, f"it is compiled in line {line} in a way that is not followed")
        return
    call = compiling[0]
    parent = source.parents[call]
    if _in_place(call) and not _compiles(view, call):
        assert isinstance(call.func, ast.Attribute)
        yield from _of_target(view, call.func.value, is_bound=is_bound)
    elif isinstance(parent, ast.Call) and parent.func is call:
        yield CallSite(view, parent, is_bound)
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        yield from _of_target(view, parent.targets[0], is_bound=is_bound)
    elif isinstance(parent, ast.AnnAssign | ast.NamedExpr):
        yield from _of_target(view, parent.target, is_bound=is_bound)
    else:
        yield Missed(source.path, line, f"what line {line} compiles is not given a name")


def _in_place(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and not call.args


def _of_target(view: FileView, target: ast.expr, *, is_bound: bool) -> Iterator[_Found]:
    match target:
        case ast.Name(id=name):
            yield from _of_name(view, name, target, is_bound=is_bound)
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
            owner = next((p for p in view.source.ancestors(target) if isinstance(p, ast.ClassDef)), None)
            if owner is not None:
                yield from _of_attribute(view, owner, attribute, is_bound=is_bound)
        case ast.Attribute(value=ast.Name(id=name) as base, attr="forward"):
            yield from _of_name(view, name, base, is_bound=is_bound)
        case _:
            text = f"what becomes of {view.source.segment(target)} is not followed"
            yield Missed(view.source.path, target.lineno, text)


def _of_name(view: FileView, name: str, binder: ast.AST, *, is_bound: bool) -> Iterator[_Found]:
    """The calls of a name in its file and in those that import it. binder: what binds it, or a use of it."""
    binds = isinstance(binder, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(
        getattr(binder, "ctx", None), ast.Load
    )
    scope = view.names.lookup(name, binder)[0]
    for use in view.names.loads.get(name, ()):
        found_in, bindings = view.names.lookup(name, use)
        if found_in is not scope or (binds and all(binding.node is not binder for binding in bindings)):
            continue
        same_block = view.names.scope_of(use) is view.names.scope_of(binder)
        if same_block and (use.lineno, use.col_offset) < _end_of_statement(view, binder) and not _in_loop(view, use):
            continue  # it is not compiled yet
        yield from _use(view, use, is_bound=is_bound)
    if scope is view.source.tree:
        for path, local in view.project.importers.get((view.source.path, name), ()):
            other = view.project.view(path)
            for use in other.names.loads.get(local, ()):
                yield from _use(other, use, is_bound=is_bound)


def _end_of_statement(view: FileView, node: ast.AST) -> tuple[int, int]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.lineno, node.col_offset
    statement = next(p for p in [node, *view.source.ancestors(node)] if isinstance(p, ast.stmt))
    return statement.end_lineno or 0, statement.end_col_offset or 0


def _in_loop(view: FileView, node: ast.AST) -> bool:
    return any(isinstance(parent, ast.For | ast.AsyncFor | ast.While) for parent in view.source.ancestors(node))


def _of_attribute(view: FileView, owner: ast.ClassDef, attribute: str, *, is_bound: bool) -> Iterator[_Found]:
    """The calls of `self.NAME` in a class."""
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()) if name == attribute:
                yield from _use(view, node, is_bound=is_bound)


def _of_method(view: FileView, owner: ast.ClassDef, method: str, *, is_bound: bool) -> Iterator[_Found]:
    """The calls of a method of `self`, and of objects that names of the files hold."""
    yield from _of_attribute(view, owner, method, is_bound=is_bound)
    for where, made in _instances(view, owner):
        for use in where.names.loads.get(made, ()):
            parent = where.source.parents[use]
            if isinstance(parent, ast.Attribute) and parent.attr == method:
                yield from _use(where, parent, is_bound=is_bound)
            elif method in ("forward", "__call__"):
                yield from _use(where, use, is_bound=is_bound)


def _instances(view: FileView, owner: ast.ClassDef) -> Iterator[tuple[FileView, str]]:
    """The names that are bound once, to a new object of a class, with their files."""
    named = [(view, use) for use in view.names.loads.get(owner.name, ()) if _is_bound_by(view, use, owner)]
    for path, local in view.project.importers.get((view.source.path, owner.name), ()):
        other = view.project.view(path)
        named += [(other, use) for use in other.names.loads.get(local, ())]
    for where, use in named:
        call = where.source.parents[use]
        while isinstance(call, ast.Call | ast.Attribute):  # Net().eval()
            parent = where.source.parents[call]
            match parent:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
                    yield where, name
            call = parent


def _is_bound_by(view: FileView, use: ast.Name, node: ast.AST) -> bool:
    return any(binding.node is node for binding in view.names.bindings(use.id, use))


def _use(view: FileView, use: ast.expr, *, is_bound: bool) -> Iterator[_Found]:
    """A call, or a use from which others may call it. Reading an attribute of it calls nothing."""
    parent = view.source.parents[use]
    if isinstance(parent, ast.Call) and parent.func is use:
        yield CallSite(view, parent, is_bound)
    elif not isinstance(parent, ast.Attribute | ast.Expr | ast.Compare | ast.Delete):
        text = f"{view.source.segment(use)} is handed on, and calls elsewhere are not followed"
        yield Missed(view.source.path, use.lineno, text)


def passed_to(function: Function, site: CallSite) -> dict[str, ast.expr] | None:
    """The argument for each parameter that a call gives; None when unpacking hides them."""
    call = site.call
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    arguments = function.node.args
    positional = [a.arg for a in [*arguments.posonlyargs, *arguments.args]][1 if site.is_bound else 0 :]
    passed = dict(zip(positional, call.args, strict=False))
    passed.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return passed
