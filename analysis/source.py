"""One parsed file: its text, its tree, and exact positions of every node.

Reading is done with `ast`, one parse per file. Columns of `ast` count UTF-8 bytes; everything here
and in `gbfix.engine.model.Span` counts characters.
"""

from __future__ import annotations

import ast
import re
import symtable
import sys
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import SourceError, Span
from gbfix.engine.paths import printable

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
"""The nodes that make a function."""

_NO_CHILD = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "name", "kind", "type_comment", "type_ignores", "level"}
)
"""Fields that hold contexts, operators, text and numbers."""
_NO_CHILDREN: dict[type[ast.AST], frozenset[str]] = {ast.Constant: frozenset({"value", "kind"})}
if sys.version_info >= (3, 12):
    _NO_CHILDREN[ast.TypeAlias] = frozenset[str]()  # whose name is an expression
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
_LEAVES = (ast.Name, ast.Constant)
_WITH_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
_LINE_END = re.compile("\r\n|\n|\r")


class _Positioned(Protocol):
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


@dataclass(frozen=True, eq=False)
class Function:
    """A function or lambda of a file, with the class that directly holds it, if any."""

    qualname: str
    node: FunctionNode
    owner: ast.ClassDef | None

    @property
    def name(self) -> str:
        """The bare name, "<lambda>" for a lambda."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def parameters(self) -> list[ast.arg]:
        """Every parameter in order, with star and double-star ones at their place."""
        arguments = self.node.args
        star = [arguments.vararg] if arguments.vararg else []
        double = [arguments.kwarg] if arguments.kwarg else []
        return [*arguments.posonlyargs, *arguments.args, *star, *arguments.kwonlyargs, *double]


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A parsed file. Two files are equal only when they are the same object."""

    path: str
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return _LINE_END.split(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node but contexts and operators, in the order of `ast.walk`, which takes longer than these."""
        return (self.tree, *self.parents)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of every node but the module, contexts and operators, in the order of `ast.walk`."""
        found: dict[ast.AST, ast.AST] = {}
        pending: list[ast.AST] = [self.tree]
        for node in pending:
            inner = children(node)
            pending += [child for child in inner if not isinstance(child, _LEAVES)]
            for child in inner:
                found[child] = node
        return found

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function and lambda, outer before inner, in source order."""
        found = _functions(self.tree, with_lambdas="lambda" in self.text)
        return tuple(sorted(found, key=lambda function: self.span(function.node).start))

    @cached_property
    def function_of_node(self) -> dict[FunctionNode, Function]:
        """Finds the `Function` of a def or lambda node."""
        return {function.node: function for function in self.functions}

    def span(self, node: ast.AST) -> Span:
        """The position of a node; decorators, from the first "@" on, belong to the def that carries them.

        Raises AttributeError for nodes without a position, such as `ast.Load`.
        """
        at = cast(_Positioned, node)
        line = at.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
            line = self._line_of_at_sign(node.decorator_list[0])
        first = self._characters(line, at.col_offset)
        return Span(line, first, at.end_lineno, self._characters(at.end_lineno, at.end_col_offset))

    def segment(self, node: ast.AST) -> str:
        r"""The exact text of a node, line ends as "\n", continuation lines as they stand."""
        span = self.span(node)
        lines = self.lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return "\n".join(lines)

    def enclosing_function(self, node: ast.AST) -> Function | None:
        """The innermost function that evaluates a node; a def, its decorators and defaults are not inside it."""
        child = node
        for parent in self.ancestors(node):
            if isinstance(parent, FunctionNode) and not evaluated_outside(parent, child):
                return self.function_of_node[parent]
            child = parent
        return None

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parents from the nearest outwards, the module last."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def _line_of_at_sign(self, decorator: ast.expr) -> int:
        line = decorator.lineno
        while line > 1 and not self.lines[line - 1].lstrip().startswith("@"):  # "@(" may stand on a line above
            line -= 1
        return line

    def _characters(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))


def parse(path: str, text: str) -> SourceFile:
    """Parse one file; `path` is used in messages and in `SourceFile.path`.

    Raises SourceError, with the line, when the text is not Python of the running interpreter.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the user's own strings and comparisons
            tree = ast.parse(text)
    except SyntaxError as error:
        raise SourceError(f"{printable(Path(path))}:{error.lineno or 1}: not valid Python: {error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise SourceError(f"{printable(Path(path))}: nested too deeply to parse; exclude this file") from error
    except ValueError as error:
        raise SourceError(f"{printable(Path(path))}: not valid Python: {error}") from error
    return SourceFile(path, text, tree)


def check_syntax(path: str, text: str) -> None:
    """Raise what `parse` raises, in three quarters of its time where it raises nothing: no tree is made.

    https://docs.python.org/3/library/symtable.html
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(text, path, "exec")
    except Exception:
        # It refuses more, a name that is global and a parameter for one, which is for Python to say when it runs.
        parse(path, text)


def children(node: ast.AST) -> list[ast.AST]:
    """The direct children of a node in field order, without contexts and operators, which have no position."""
    kind = node.__class__
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(name for name in kind._fields if name not in _NO_CHILDREN.get(kind, _NO_CHILD))
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [child for child in value if isinstance(child, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def evaluated_outside(holder: ast.AST, child: ast.AST) -> bool:
    """True for the direct children of a def, class or lambda that the scope around it evaluates.

    Those are decorators, defaults, annotations, base classes and keywords; type parameters (Python
    3.12) count as inside.
    """
    if isinstance(holder, ast.Lambda):
        return child is not holder.body
    if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        is_type_parameter = any(child is parameter for parameter in getattr(holder, "type_params", ()))
        return not isinstance(child, ast.stmt) and not is_type_parameter
    return False


def _functions(tree: ast.Module, *, with_lambdas: bool) -> Iterator[Function]:
    """Those of a tree; without lambdas, no expression is looked at.

    Walks without recursion: a long `elif` chain or sum is deeper than Python's stack.
    """
    pending: list[tuple[ast.AST, str, ast.ClassDef | None]] = [(tree, "", None)]
    while pending:
        node, prefix, owner = pending.pop()
        inside, held_by = prefix, owner
        if isinstance(node, FunctionNode):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            function = Function(prefix + name, node, None if isinstance(node, ast.Lambda) else owner)
            yield function
            inside, held_by = f"{function.qualname}.<locals>.", None
        elif isinstance(node, ast.ClassDef):
            inside, held_by = f"{prefix}{node.name}.", node
        for child in reversed(children(node)):
            if isinstance(child, _LEAVES) or not (with_lambdas or isinstance(child, _WITH_STATEMENTS)):
                continue
            outside = inside is not prefix and evaluated_outside(node, child)
            pending.append((child, prefix, owner) if outside else (child, inside, held_by))
