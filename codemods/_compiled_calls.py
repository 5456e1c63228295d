"""Where a program calls a function that it gave to torch.compile, so that the call starts compiled code."""

from __future__ import annotations

import ast

from gbfix.analysis.project import Project
from gbfix.analysis.recompiles import EntrySeen
from gbfix.analysis.source import Function
from gbfix.codemods._compile_spellings import compiles
from gbfix.codemods._follow import Follower, Found, Missed


def calls_of(project: Project, path: str, function: Function | None, entry: EntrySeen | None) -> list[Found]:
    """The calls of a compiled function, and the uses of it that lead to calls elsewhere, by file and position.

    function: None for one that is not in the given files. entry: how the run saw it given to torch.compile.
    """
    at = entry.compiled_at if entry is not None else None
    follower = Follower(project)
    if function is not None and (decorator := _compiling_decorator(project, path, function, entry)) is not None:
        found = list(follower.of_decorated(project.view(path), function, decorator))
    elif at is None or at.file not in project.files:
        where = f"in {at.file}, which is not among the given files" if at is not None else "in a place not recorded"
        found = [Missed(path, function.node.lineno if function is not None else 0, f"it is compiled {where}")]
    else:
        found = list(follower.of_compile_call(project.view(at.file), at.line))
    return sorted(found, key=_position)


def _position(found: Found) -> tuple[str, int, int]:
    if isinstance(found, Missed):
        return found.path, found.line, -1
    return found.view.source.path, found.call.lineno, found.call.col_offset


def _compiling_decorator(project: Project, path: str, function: Function, entry: EntrySeen | None) -> ast.expr | None:
    """The decorator that compiles a function: by its name, else the one in the line that the run tells."""
    view = project.view(path)
    decorators = [] if isinstance(function.node, ast.Lambda) else function.node.decorator_list
    at = entry.compiled_at if entry is not None else None
    if at is not None and at.file != path:
        return None
    for decorator in decorators:
        span = view.source.span(decorator)
        if at is None and compiles(view, decorator):
            return decorator
        if at is not None and span.line <= at.line <= span.end_line:
            return decorator
    return None


def passed_to(parameters: list[str], call: ast.Call) -> dict[str, ast.expr] | None:
    """The argument for each parameter that a call gives; None when unpacking hides them."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    passed = dict(zip(parameters, call.args, strict=False))
    passed.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return passed
