"""The classes of the given files, with their bases across files."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from enum import Enum

from gbfix.analysis.exports import Exports
from gbfix.analysis.modules import Modules, NamesOfFiles
from gbfix.analysis.names import Binding
from gbfix.engine.dataclass import dataclass

_FOLLOWED = 50  # aliases and imports from one name to its class; more is a cycle


class ModuleKind(Enum):
    """Whether a class is a torch.nn.Module, as far as the given files tell."""

    MODULE = "module"
    UNKNOWN = "unknown"
    OTHER = "other"


@dataclass(frozen=True, eq=False)
class ClassInfo:
    """A class of a given file."""

    path: str
    node: ast.ClassDef


@dataclass(frozen=True)
class OutsideClass:
    """A base class that is in none of the given files; `name` is its dotted name, None when nobody can say."""

    name: str | None


class Classes:
    """Finds classes by expression, and the order in which Python looks attributes up in them."""

    def __init__(self, files: NamesOfFiles, modules: Modules, exports: Exports) -> None:
        self._files = files
        self._exports = exports
        self._modules = modules
        self._infos: dict[ast.ClassDef, ClassInfo] = {}
        self._orders: dict[ClassInfo, tuple[ClassInfo | OutsideClass, ...]] = {}
        self._kinds: dict[ClassInfo, ModuleKind] = {}

    def info(self, path: str, node: ast.ClassDef) -> ClassInfo:
        """The one description of a class."""
        return self._infos.setdefault(node, ClassInfo(path, node))

    def order(self, info: ClassInfo) -> tuple[ClassInfo | OutsideClass, ...]:
        """The class and its bases in lookup order: depth first, a base shared by several after all of them."""
        if info not in self._orders:
            self._orders[info] = (info,)  # for a class that is its own base
            found: list[ClassInfo | OutsideClass] = [info]
            for base in self._bases(info):
                found += self.order(base) if isinstance(base, ClassInfo) else [base]
            last = {base: index for index, base in enumerate(found)}
            self._orders[info] = tuple(base for index, base in enumerate(found) if last[base] == index)
        return self._orders[info]

    def kind(self, info: ClassInfo) -> ModuleKind:
        """Whether the class is a torch.nn.Module: by its bases, unknown when one of them cannot be resolved."""
        if info not in self._kinds:
            outside = [_kind_outside(base.name) for base in self.order(info) if isinstance(base, OutsideClass)]
            order = (ModuleKind.MODULE, ModuleKind.UNKNOWN)
            self._kinds[info] = next((kind for kind in order if kind in outside), ModuleKind.OTHER)
        return self._kinds[info]

    def inherits(self, info: ClassInfo, name: str) -> bool:
        """True when a class outside the given files with this dotted name is among the bases."""
        return OutsideClass(name) in self.order(info)

    def in_annotation(self, path: str, annotation: ast.expr) -> tuple[ClassInfo, ...]:
        """The given classes that an annotation names anywhere: in `X | None`, in `list[X]`, in a string."""
        found: dict[ClassInfo, None] = {}
        for node in _names_in_annotation(annotation):
            found.update((c, None) for c in self._classes_named(path, node) if isinstance(c, ClassInfo))
        return tuple(found)

    def _bases(self, info: ClassInfo) -> Iterator[ClassInfo | OutsideClass]:
        for base in info.node.bases:
            expression = base.value if isinstance(base, ast.Subscript) else base
            yield from self._classes_named(info.path, expression)

    def _classes_named(self, path: str, expression: ast.expr) -> list[ClassInfo | OutsideClass]:
        found: dict[ClassInfo | OutsideClass, None] = {}
        pending: list[tuple[str, ast.expr | Binding]] = [(path, expression)]
        seen: set[Binding] = set()
        for _ in range(_FOLLOWED):
            if not pending:
                break
            file, node = pending.pop()
            if not isinstance(node, Binding):
                self._follow(file, node, found, pending)
            elif node not in seen:
                seen.add(node)
                self._follow_binding(file, node, found, pending)
            else:
                found[OutsideClass(None)] = None  # files that import a name from one another
        if pending:
            found[OutsideClass(None)] = None
        return list(found)

    def _follow(
        self,
        path: str,
        node: ast.expr,
        found: dict[ClassInfo | OutsideClass, None],
        pending: list[tuple[str, ast.expr | Binding]],
    ) -> None:
        names = self._files.names_of(path)
        qualified = names.qualified(node)
        if qualified is not None:
            self._follow_import(path, qualified, found, pending)
        elif isinstance(node, ast.Name):
            bindings = names.bindings(node.id, node)
            if not bindings:
                found[OutsideClass(f"builtins.{node.id}" if hasattr(builtins, node.id) else None)] = None
            for binding in bindings:
                self._follow_binding(path, binding, found, pending)
        elif isinstance(node, ast.IfExp):
            pending += [(path, node.orelse), (path, node.body)]
        else:
            found[OutsideClass(None)] = None

    def _follow_binding(
        self,
        path: str,
        binding: Binding,
        found: dict[ClassInfo | OutsideClass, None],
        pending: list[tuple[str, ast.expr | Binding]],
    ) -> None:
        statement = binding.statement
        if isinstance(binding.node, ast.ClassDef):
            found[self.info(path, binding.node)] = None
        elif binding.qualified is not None:
            self._follow_import(path, binding.qualified, found, pending)
        elif isinstance(statement, ast.Assign) and binding.node in statement.targets:
            pending.append((path, statement.value))
        else:
            found[OutsideClass(None)] = None

    def _follow_import(
        self,
        path: str,
        dotted: str,
        found: dict[ClassInfo | OutsideClass, None],
        pending: list[tuple[str, ast.expr | Binding]],
    ) -> None:
        target = self._modules.resolve(path, dotted)
        if target is None:
            found[OutsideClass(None if dotted.startswith(".") else dotted)] = None
            return
        file, rest = target
        names = self._files.names_of(file)
        bindings = (
            names.bindings(rest[0], names.source.tree) if len(rest) == 1 and self._exports.has(file, rest[0]) else []
        )
        if not bindings:
            found[OutsideClass(None)] = None
        pending += [(file, binding) for binding in reversed(bindings)]


def _kind_outside(name: str | None) -> ModuleKind:
    """PyTorch's own modules are classes of torch.nn; what other libraries define may be anything."""
    if name is None:
        return ModuleKind.UNKNOWN
    first, *rest = name.split(".")
    if first == "torch":
        is_module = "nn" in rest and rest[-1] != "Parameter" and rest[-1][:1].isupper()
        return ModuleKind.MODULE if is_module else ModuleKind.OTHER
    return ModuleKind.OTHER if first in sys.stdlib_module_names or first == "typing_extensions" else ModuleKind.UNKNOWN


def _names_in_annotation(annotation: ast.expr) -> Iterator[ast.expr]:
    pending: list[ast.AST] = [annotation]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name | ast.Attribute):
            yield node
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                pending.append(ast.parse(node.value, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        else:
            pending.extend(ast.iter_child_nodes(node))
