"""Where a function is compiled, and how its first part can be compiled in its place."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import Flow
from gbfix.codemods._sites import torch_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Replacement

_MODES = frozenset(
    {"torch.no_grad", "torch.enable_grad", "torch.inference_mode"}
    | {"torch.autograd.no_grad", "torch.autograd.enable_grad", "torch.autograd.inference_mode"}
)


@dataclass(frozen=True)
class CompileSite:
    """decorator: what compiles a function that takes over its place. kept: the decorators that stay with the function.

    edits: of the call that compiled it until then.
    """

    decorator: str
    kept: tuple[str, ...] = ()
    edits: tuple[Replacement, ...] = ()


def compile_site(flow: Flow) -> CompileSite | None:
    """Where the function is compiled, when that is one place; None when it is not, or not as plainly as needed.

    Either `torch.compile` is a decorator, beside none that do more than set a mode; or one call compiles the function,
    and nothing else in the project mentions it.
    """
    node = flow.context.function.node
    if not isinstance(node, ast.FunctionDef):
        return None
    return _by_decorator(flow, node) if node.decorator_list else _by_call(flow, node)


def _by_decorator(flow: Flow, node: ast.FunctionDef) -> CompileSite | None:
    names, source = flow.context.names, flow.context.source
    compiling = [one for one in node.decorator_list if _compiles(flow, one)]
    others = [one for one in node.decorator_list if one not in compiling]
    modes = [one for one in others if isinstance(one, ast.Call) and names.qualified(one.func) in _MODES]
    if len(compiling) != 1 or modes != others or any(one.args or one.keywords for one in modes):
        return None
    if any(isinstance(source.parents[load], ast.Attribute) for load in names.loads.get(node.name, [])):
        return None  # it is more than something to call
    return CompileSite("@" + source.segment(compiling[0]), tuple("@" + source.segment(one) for one in others))


def _compiles(flow: Flow, decorator: ast.expr) -> bool:
    if not isinstance(decorator, ast.Call):
        return flow.context.names.qualified(decorator) == "torch.compile"
    plain = not decorator.args and not any(keyword.arg in (None, "model") for keyword in decorator.keywords)
    return plain and flow.context.names.qualified(decorator.func) == "torch.compile"


def _by_call(flow: Flow, node: ast.FunctionDef) -> CompileSite | None:
    """`step = torch.compile(f)`, and in a class `self.step = torch.compile(self.f)`."""
    source, view = flow.context.source, flow.context.view
    mentions = _mentions(flow, node)
    if mentions is None or len(mentions) != 1:
        return None
    call = source.parents.get(mentions[0])
    if not isinstance(call, ast.Call) or call.args != [mentions[0]] or not _has_constant_options(call):
        return None
    if view.names.qualified(call.func) != "torch.compile":
        return None
    statement = source.parents[call]
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Attribute(value=ast.Name()) as target], value=value) if value is call:
            if not _always_runs(flow, statement):
                return None
        case _:
            return None
    torch, missing = torch_name(view, node)
    if missing:
        return None
    options = [source.segment(keyword) for keyword in call.keywords]
    decorator = f"@{torch}.compile({', '.join(options)})" if options else f"@{torch}.compile"
    text = source.segment(mentions[0])
    same = source.segment(target) == text
    new = "" if same else f"{source.segment(target)} = {text}"
    return CompileSite(decorator, (), (Replacement(source.span(statement), new),))


def _mentions(flow: Flow, node: ast.FunctionDef) -> list[ast.expr] | None:
    """What mentions the function in the project, None where that is not known: by its text, or where others have it."""
    owner, source = flow.context.function.owner, flow.context.source
    found: list[ast.expr] = []
    for path, file in flow.context.view.project.files.naming(node.name):
        for part in ast.walk(file.tree):
            if isinstance(part, ast.Constant) and part.value == node.name:
                return None
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == node.name and part is not node:
                return None
            if isinstance(part, ast.alias) and node.name in (part.name, part.asname):
                return None
            named = isinstance(part, ast.Attribute) and part.attr == node.name
            named = named or (isinstance(part, ast.Name) and part.id == node.name)
            if not named or not isinstance(part, ast.expr):
                continue
            if path != source.path or isinstance(part, ast.Attribute) is (owner is None):
                return None
            if isinstance(getattr(part, "ctx", None), ast.Load):
                found.append(part)
            elif not (isinstance(part, ast.Attribute) and _is_rebound(flow, part)):
                return None
    if owner is not None and not all(isinstance(one, ast.Attribute) and _is_own(flow, one) for one in found[:1]):
        return None
    return found


def _is_rebound(flow: Flow, target: ast.Attribute) -> bool:
    """True for the target of `self.step = torch.compile(self.step)`."""
    statement = flow.context.source.parents[target]
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and _is_own(flow, target)


def _is_own(flow: Flow, node: ast.Attribute) -> bool:
    """True for an attribute of the `self` of a method of the same class."""
    function = flow.context.source.enclosing_function(node)
    if function is None or function.owner is not flow.context.function.owner or not function.parameters:
        return False
    return isinstance(node.value, ast.Name) and node.value.id == function.parameters[0].arg


def _has_constant_options(call: ast.Call) -> bool:
    plain = all(keyword.arg is not None and isinstance(keyword.value, ast.Constant) for keyword in call.keywords)
    return plain and not any(keyword.arg == "model" for keyword in call.keywords)


def _always_runs(flow: Flow, statement: ast.stmt) -> bool:
    """True for a statement that stands in the block of a function, a module, or `if __name__ == "__main__"`."""
    source = flow.context.source
    parent = source.parents[statement]
    if isinstance(parent, ast.If) and "__name__" in source.segment(parent.test):
        parent = source.parents[parent]
    return isinstance(parent, ast.Module | ast.FunctionDef)
