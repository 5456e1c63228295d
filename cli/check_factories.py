"""How to get at a compiled function again: by its name, by the name that holds it, or from a function that returns it.

Read from the source: nothing of the program is run to find out. A function is taken for a factory only where its last
statement returns the very thing that it gave to torch.compile, since it will be called.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from gbfix.analysis.source import parse
from gbfix.cli.check_modules import ModuleFile, module_of_file
from gbfix.cli.check_targets import target_in, top_level_names
from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import read_source
from gbfix.equivalence.model import Target

_Def = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class CompileCall:
    """Where something was given to torch.compile. text: what the file held then, which need not be on disk any more."""

    file: Path
    text: str
    line: int


def loadable(module: ModuleFile, qualname: str, compiled: CompileCall | None) -> Target | None:
    """The target for a compiled function; None when its source does not say how to get at it.

    Raises GbfixError for a file that cannot be read or parsed.
    """
    if _is_named(qualname) and not needed_arguments(module.file, qualname):
        return target_in(module, qualname)
    if compiled is None or not compiled.file.is_file():
        return None
    maker = module_of_file(compiled.file)
    if maker.search != module.search:
        return None
    line = compiled.line
    scope, statement = _around(parse(display_name(compiled.file), compiled.text).tree, line)
    if scope is None:
        name = next(iter(_holds(statement)), None) if maker.file == module.file else None
        return target_in(module, name) if name else None
    if not (isinstance(scope, _Def) and _returns(scope, statement, line) and not _required(scope, skip=0)):
        return None
    factory = scope.name if maker.file == module.file else f"{maker.name}:{scope.name}"
    name = f"{module.name}:{qualname.removesuffix('.forward')}"
    attribute = qualname.partition(".<locals>")[0].removesuffix(".forward")  # what has a name
    return Target(name, str(module.file), module.name, str(module.search), attribute, factory)


def needed_arguments(file: Path, attribute: str) -> tuple[str, ...]:
    """The arguments without which the class that `attribute` begins with cannot be built; none for a function."""
    node = top_level_names(_tree(file)).get(attribute.partition(".")[0])
    if not isinstance(node, ast.ClassDef):
        return ()
    init = next((item for item in node.body if isinstance(item, _Def) and item.name == "__init__"), None)
    return _required(init, skip=1) if init else ()


def _tree(file: Path) -> ast.Module:
    return parse(display_name(file), read_source(file).text).tree


def _is_named(qualname: str) -> bool:
    return "<" not in qualname


def _required(function: _Def, skip: int) -> tuple[str, ...]:
    """The parameters without a default, but for the first `skip`."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    without = positional[skip : len(positional) - len(arguments.defaults)]
    keyword = [a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return tuple(argument.arg for argument in (*without, *keyword))


def _around(tree: ast.Module, line: int) -> tuple[ast.stmt | None, ast.stmt | None]:
    """The top-level def or class around a line (None: it runs on import), and the statement directly in it."""
    outer = _covering(tree.body, line)
    if (
        not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or line <= outer.lineno
    ):  # a decorator
        return None, outer
    return outer, _covering(outer.body, line)


def _covering(body: Sequence[ast.stmt], line: int) -> ast.stmt | None:
    return next((statement for statement in body if _first(statement) <= line <= (statement.end_lineno or 0)), None)


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _holds(statement: ast.stmt | None) -> list[str]:
    """The names that hold what a statement compiles: `f = torch.compile(g)`, `model.compile()`, a decorated def."""
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    if isinstance(statement, _Def | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if isinstance(called, ast.Attribute) and called.attr == "compile" and isinstance(called.value, ast.Name):
            return [called.value.id]
    return []


def _returns(function: _Def, statement: ast.stmt | None, line: int) -> bool:
    """True when the last statement returns what the statement at the line compiled."""
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    if last is statement:
        return isinstance(last.value, ast.Call) and _first(last) <= line
    return isinstance(last.value, ast.Name) and last.value.id in _holds(statement)
