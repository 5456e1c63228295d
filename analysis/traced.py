"""Functions that a run showed to be compiled, whatever the source shows: library code, or calls nobody can follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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
            if function is not None and function.name == observed.function and function not in functions:
                functions.add(function)
                found.append(CompiledFunction(path, function, REASON))
    return found


def _function_at(source: SourceFile, line: int) -> Function | None:
    """The innermost function whose body holds a line."""
    around = [f for f in source.functions if f.node.lineno <= line <= (f.node.end_lineno or 0)]
    return max(around, key=lambda function: function.node.lineno, default=None)
