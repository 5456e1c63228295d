"""Ways in which a program reaches an attribute without its name, or makes and runs modules unlike others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView, Project
from gbfix.analysis.source import FunctionNode

_BY_TEXT = ("getattr", "setattr", "hasattr", "delattr")
_AS_DATA = frozenset({"__dict__", "share_memory", "to_empty"})
_COPIES = frozenset({"copy.copy", "copy.replace", "dataclasses.replace"})
_MODES = frozenset({"torch.inference_mode", "torch.set_default_device", "torch.vmap", "torch.func.vmap"})
_MODES_WITH = frozenset({"torch.device"})
HOOKS = frozenset(
    {"__setattr__", "__getattr__", "__getattribute__", "__delattr__", "__getstate__", "__setstate__", "__copy__"}
    | {"__reduce__", "__reduce_ex__", "__deepcopy__", "register_buffer"}
)
"""Methods that change what it means to set, read or copy an attribute."""
OF_MODULE = frozenset({"_version", "training", "dump_patches", "call_super_init", "forward"})
"""What every module has already."""


def reached_otherwise(project: Project, *, by_name: bool = True) -> tuple[str, int] | None:
    """The first place, as "file:line" and line, that may reach attributes of any name; None for none.

    by_name: also those that ask for one name, which may be a computed one.
    """
    for path, source in project.files.items():
        view = project.view(path)
        for node in source.nodes:
            if _is_by_text(view, node, by_name) or (isinstance(node, ast.Attribute) and node.attr in _AS_DATA):
                line = getattr(node, "lineno", 0)
                return f"{path}:{line}", line
    return None


def mode_used(project: Project) -> tuple[str, int] | None:
    """The first place that runs code, or makes tensors, in another mode or on another device; None for none."""
    for path, source in project.files.items():
        view = project.view(path)
        for node in source.nodes:
            if isinstance(node, ast.Attribute | ast.Name) and view.names.qualified(node) in _MODES:
                return f"{path}:{node.lineno}", node.lineno
            call = node.context_expr if isinstance(node, ast.withitem) else None
            if isinstance(call, ast.Call) and view.names.qualified(call.func) in _MODES_WITH:
                return f"{path}:{call.lineno}", call.lineno
    return None


def bound_in_classes(project: Project, name: str) -> Iterator[tuple[str, int]]:
    """The classes whose own block gives the name a value, and those lines."""
    for path, source in project.files.items():
        for owner in source.nodes:
            for statement in owner.body if isinstance(owner, ast.ClassDef) else ():
                match statement:
                    case ast.Assign(targets=targets):
                        names = {
                            part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
                        }
                    case ast.AnnAssign(target=ast.Name(id=one), value=value) if value is not None:
                        names = {one}
                    case _ if isinstance(statement, FunctionNode | ast.ClassDef):
                        names = {getattr(statement, "name", "")}
                    case _:
                        names = set()
                if name in names:
                    yield f"{path}:{statement.lineno}", statement.lineno


def _is_by_text(view: FileView, node: ast.AST, by_name: bool) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if view.names.is_builtin(node.func, "vars") or view.names.qualified(node.func) in _COPIES:
        return True
    by_text = by_name and any(view.names.is_builtin(node.func, name) for name in _BY_TEXT)
    return by_text and not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant))
