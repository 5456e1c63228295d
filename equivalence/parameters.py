"""The parameters of a function as its source says, for programs that are not imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.equivalence.model import Parameter

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def parameters_of(node: FunctionNode, *, method: bool) -> tuple[Parameter, ...]:
    """The parameters, for a method without the first."""
    found = list(_all(node.args))
    return tuple(found[1:] if method and found and found[0].kind.startswith("POSITIONAL") else found)


def _all(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    for index, each in enumerate(positional):
        kind = "POSITIONAL_ONLY" if index < len(arguments.posonlyargs) else "POSITIONAL_OR_KEYWORD"
        yield _parameter(each, kind, arguments.defaults[index - missing] if index >= missing else None)
    if arguments.vararg is not None:
        yield _parameter(arguments.vararg, "VAR_POSITIONAL", None, required=False)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, "KEYWORD_ONLY", default)
    if arguments.kwarg is not None:
        yield _parameter(arguments.kwarg, "VAR_KEYWORD", None, required=False)


def _parameter(each: ast.arg, kind: str, default: ast.expr | None, *, required: bool = True) -> Parameter:
    annotation = "" if each.annotation is None else ast.unparse(each.annotation)
    return Parameter(each.arg, kind, annotation, required and default is None, _plain(default))


def _plain(default: ast.expr | None) -> str | None:
    """The repr of a default that is a literal."""
    if default is None:
        return None
    try:
        return repr(ast.literal_eval(default))
    except ValueError:
        return None
