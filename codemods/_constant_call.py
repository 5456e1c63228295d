"""Evaluates an expression of constants, with the few functions whose value depends on their arguments alone."""

from __future__ import annotations

import ast
import importlib
import operator
from collections.abc import Callable

from gbfix.analysis.literals import shorten
from gbfix.analysis.names import Names
from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import KNOWN, HostCall, Reads
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, on_its_own, render
from gbfix.codemods._top_level import top_level_statement
from gbfix.engine.dataclass import dataclass

ADVICE = (
    "compute it before the compiled function is called and pass the result in, or keep it in a name of the module; "
    "in a helper under torch.compiler.disable it costs one break"
)
_UNEVALUATED = ("pickle.loads", "zlib.decompress")  # their work is not bounded by the length of what is written
_BUILTINS: dict[str, Callable[..., object]] = {
    "int": int,
    "float": float,
    "str": str,
    "len": len,
    "abs": abs,
    "round": round,
}
_ROUNDING = ("abs", "round")  # what they do with a Decimal depends on settings
_METHODS = {
    "hexdigest": "hashlib",
    "digest": "hashlib",
    "encode": "str",
    "decode": "bytes",
    "hex": "bytes",
    "upper": "str",
    "lower": "str",
    "strip": "str",
}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_IMMUTABLE = (bool, int, float, str, bytes, type(None))
_KINDS = {bool: "a truth value", int: "a number", float: "a number", str: "a text", bytes: "bytes", type(None): "None"}


@dataclass(frozen=True)
class Constant:
    """An expression that has one value. source: it as it can stand in the module, which needs `imports`."""

    call: HostCall
    node: ast.expr
    text: str
    kind: str
    source: str
    imports: tuple[str, ...]


class _NotConstantError(Exception):
    """The text says what is not constant."""


def constant_around(view: FileView, call: HostCall) -> Constant:
    """The largest expression around a call that is a constant number or text; raises RefusedError without one."""
    evaluator = _Evaluator(view.names)
    line = call.node.lineno
    try:
        value = evaluator.value(call.node)
    except _NotConstantError as error:
        raise RefusedError("the value is the same every time", str(error), line, ADVICE) from error
    found: ast.expr | None = call.node if _is_immutable(value) else None
    kind = value
    node: ast.AST = call.node
    while isinstance(parent := view.source.parents[node], ast.expr):
        try:
            value = evaluator.value(parent)
        except _NotConstantError:
            if not (isinstance(parent, ast.Attribute) and isinstance(view.source.parents[parent], ast.Call)):
                break
        else:
            if _is_immutable(value):
                found, kind = parent, value
        node = parent
    if found is None:
        text = f"{shorten(view.source.segment(call.node))} gives {_article(type(value).__name__)}"
        raise RefusedError("nobody can change the value", text, line, ADVICE)
    if any(isinstance(around, ast.JoinedStr) for around in view.source.ancestors(found)):
        raise RefusedError("the expression can be replaced", "it stands in an f-string", line, "give it a name before")
    source, imports = _module_source(view, found)
    return Constant(call, found, shorten(view.source.segment(found)), _KINDS[type(kind)], source, imports)


def _article(name: str) -> str:
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _is_immutable(value: object) -> bool:
    return type(value) in _IMMUTABLE


def _module_source(view: FileView, node: ast.expr) -> tuple[str, tuple[str, ...]]:
    """The expression as the top of the module can evaluate it, with the imports that are still missing there."""
    names, source = view.names, view.source
    first = top_level_statement(source, node).lineno
    missing: dict[ast.expr, str] = {}
    for part in ast.walk(node):
        qualified = names.qualified(part) if isinstance(part, ast.Name | ast.Attribute) else None
        if qualified in KNOWN and isinstance(part, ast.Name | ast.Attribute):
            base: ast.expr = part
            while isinstance(base, ast.Attribute):
                base = base.value
            statements = [b.statement for b in names.bindings(base.id, base)] if isinstance(base, ast.Name) else []
            above = (source.parents.get(s) is source.tree and getattr(s, "lineno", first) < first for s in statements)
            if not all(above):
                missing[part] = str(qualified)
    if not missing:
        return on_its_own(render(source, node, {}, indentation_of(source, node)) or ""), ()
    modules = dict.fromkeys(name.rpartition(".")[0] for name in missing.values())
    return ast.unparse(_Renamed(missing).visit(_copied(node, missing))), tuple(modules)


def _copied(node: ast.expr, missing: dict[ast.expr, str]) -> ast.expr:
    """A copy that may be changed; the keys of `missing` are exchanged for those of the copy."""
    copy = ast.parse(ast.unparse(node), mode="eval").body
    for old, new in zip(ast.walk(node), ast.walk(copy), strict=True):
        if isinstance(old, ast.expr) and old in missing and isinstance(new, ast.expr):
            missing[new] = missing[old]
    return copy


class _Renamed(ast.NodeTransformer):
    """Replaces expressions by dotted names."""

    def __init__(self, names: dict[ast.expr, str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        """The dotted name for one of the expressions, other nodes with those inside replaced."""
        if isinstance(node, ast.expr) and node in self._names:
            return ast.parse(self._names[node], mode="eval").body
        visited: ast.AST = super().visit(node)
        return visited


class _Evaluator:
    """Computes constants; every step allows only what cannot take long, change anything or depend on settings."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def value(self, node: ast.expr) -> object:
        """The value of an expression. Raises _NotConstantError, also when computing it raises something."""
        try:
            return self._value(node)
        except _NotConstantError:
            raise
        except Exception as error:
            raise _NotConstantError(f"{ast.unparse(node)} raises {type(error).__name__}") from error

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Tuple(elts=parts):
                return tuple(map(self._value, parts))
            case ast.List(elts=parts):
                return list(map(self._value, parts))
            case ast.Dict(keys=keys, values=parts) if all(key is not None for key in keys):
                return {self._value(k): self._value(p) for k, p in zip(keys, parts, strict=True) if k is not None}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._number(left), self._number(right))
            case ast.Attribute(value=ast.Call() as made, attr="value") if self._host(made).startswith("ctypes."):
                return getattr(self._value(made), "value")  # noqa: B009
            case ast.Call():
                return self._call(node)
            case _:
                raise _NotConstantError(f"{shorten(ast.unparse(node))} may be another one at the next call")

    def _host(self, node: ast.Call) -> str:
        return self._names.qualified(node.func) or ""

    def _number(self, node: ast.expr) -> float:
        found = self._value(node)
        if not isinstance(found, int | float):  # what a Decimal does in arithmetic depends on settings
            raise _NotConstantError(f"{shorten(ast.unparse(node))} is no number")
        return found

    def _call(self, node: ast.Call) -> object:
        callee = self._callee(node)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise _NotConstantError(f"{shorten(ast.unparse(node))} unpacks its arguments")
        return callee(*map(self._value, node.args), **{str(k.arg): self._value(k.value) for k in node.keywords})

    def _callee(self, node: ast.Call) -> Callable[..., object]:
        name = self._host(node)
        if KNOWN.get(name) is Reads.VALUE and name not in _UNEVALUATED:
            module, _, attribute = name.rpartition(".")
            found: Callable[..., object] = getattr(importlib.import_module(module), attribute)
            return found
        for builtin, function in _BUILTINS.items():
            if self._names.is_builtin(node.func, builtin):
                if builtin in _ROUNDING and node.args:
                    self._number(node.args[0])
                return function
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            receiver = self._value(node.func.value)
            kind = _METHODS[node.func.attr]
            if type(receiver).__name__ == kind or (kind == "hashlib" and hasattr(receiver, "hexdigest")):
                method: Callable[..., object] = getattr(receiver, node.func.attr)
                return method
        raise _NotConstantError(f"{shorten(ast.unparse(node))} may give another value at the next call")
