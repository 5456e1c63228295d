"""Functions that a run showed to be compiled, whatever the source shows: library code, or calls nobody can follow."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gbfix.analysis.library import Effect, library_function
from gbfix.analysis.names import Names
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import Function, SourceFile

if TYPE_CHECKING:
    from gbfix.analysis.project import Project

REASON = "in the observed run"


def traced_functions(project: Project, known: Iterable[CompiledFunction]) -> list[CompiledFunction]:
    """The functions with observed lines that are not among the known ones."""
    functions = {compiled.function for compiled in known}
    found = []
    for path, lines in project.observed.items():
        source = project.files.get(path)
        if source is None:
            continue
        for line, observed in lines.items():
            function = _function_at(source, line)
            if function is None or function.name != observed.function or function in functions:
                continue
            functions.add(function)
            if not is_left_out(source, project.names_of(path), function):
                found.append(CompiledFunction(path, function, REASON))
    return found


def is_left_out(source: SourceFile, names: Names, function: Function) -> bool:
    """True for a function under `torch.compiler.disable` and the like, and for what is defined within one."""
    around = (node for node in source.ancestors(function.node) if isinstance(node, ast.FunctionDef))
    decorators = [one for node in (function.node, *around) for one in getattr(node, "decorator_list", ())]
    called = (names.qualified(one.func if isinstance(one, ast.Call) else one) for one in decorators)
    known = (library_function(name) for name in called if name is not None)
    return any(one is not None and one.effect is Effect.END for one in known)


def _function_at(source: SourceFile, line: int) -> Function | None:
    """The innermost function whose body holds a line."""
    around = [f for f in source.functions if f.node.lineno <= line <= (f.node.end_lineno or 0)]
    return max(around, key=lambda function: function.node.lineno, default=None)
