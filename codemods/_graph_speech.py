"""The function that new code makes operators with which speak from within a graph, and how it is known again."""

from __future__ import annotations

import ast

from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode

MAKER = "_in_graph"
_SOURCE = '''def {maker}(say):
    """Let graphs call a function that says something: as an operator, which runs whenever the graph runs."""
    name = f"module_{{__name__.encode().hex()}}::{{say.__name__}}"
    schema = {torch}.library.infer_schema(say, mutates_args=()).replace("-> ()", "-> Tensor")

    def run(*numbers):
        say(*numbers)
        return {torch}.empty(0)  # Inductor on CPUs misplaces an operator that neither takes nor gives a tensor.

    tags = ({torch}.Tag.cudagraph_unsafe,)
    operator = {torch}.library.custom_op(name, run, mutates_args=(), schema=schema, tags=tags)
    operator.register_fake(lambda *numbers: {torch}.empty(0))
    operator.register_effect({torch}.library.EffectType.ORDERED)

    def speak(*numbers):
        if {torch}.compiler.is_dynamo_compiling():
            operator(*numbers)
        else:
            say(*numbers)

    return speak'''


def maker_source(maker: str, torch: str) -> str:
    """The source of the function, under a name, with the name that PyTorch has."""
    return _SOURCE.format(maker=maker, torch=torch)


def is_maker(node: ast.stmt) -> bool:
    """True for the definition of that function, whatever it and PyTorch are called."""
    return isinstance(node, ast.FunctionDef) and _shape(node) == _EXPECTED


def maker_of(module: ast.Module) -> str | None:
    """The name under which a module defines that function, None when it does not."""
    return next((node.name for node in module.body if isinstance(node, ast.FunctionDef) and is_maker(node)), None)


def said_in_graph(view: FileView, node: ast.AST) -> bool:
    """True for a function that is given to it, and so runs as an operator: Dynamo does not follow it."""
    if not isinstance(node, FunctionNode) or isinstance(node, ast.Lambda) or len(node.decorator_list) != 1:
        return False
    definition = view.names.single_definition(node.decorator_list[0])
    return definition is not None and isinstance(definition.node, ast.FunctionDef) and is_maker(definition.node)


def _shape(node: ast.FunctionDef) -> str:
    """The function without its name, its text and the name of PyTorch."""
    body = ast.Module(node.body[1:], [])
    torch = next((part.value.id for part in ast.walk(body) if _is_tag(part)), "torch")  # type: ignore[attr-defined]
    return ast.dump(node.args) + ast.dump(body).replace(f"id='{torch}'", "id='torch'")


def _is_tag(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "Tag" and isinstance(node.value, ast.Name)


_EXPECTED = _shape(ast.parse(maker_source(MAKER, "torch")).body[0])  # type: ignore[arg-type]
