"""What the annotation of a parameter says about its value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gbfix.analysis import values as v
from gbfix.analysis.values import Assumption, Kind, Value

if TYPE_CHECKING:
    from gbfix.analysis.context import Context


def parameter_value(context: Context, argument: ast.arg) -> Value:
    """What the annotation of a parameter says; without one it may be a tensor, and nothing shows it."""
    token = v.term("parameter", argument.arg, context.salt)
    kind, assumed = _annotation_kind(context, argument.annotation, argument.arg)
    if kind is Kind.TENSOR and _defaults_to_none(context.function.node.args, argument):
        assumed |= {Assumption(f"{argument.arg} is not None", argument.lineno)}
    if kind in (Kind.TENSOR, Kind.MAYBE):
        return v.opaque_tensor(token, argument.arg, kind=kind).assuming(assumed)
    if kind is Kind.NUMBER:
        return Value(kind, number=_number_annotation(argument.annotation))
    return Value(kind, class_name="str" if _is_text(argument.annotation) else None)


def _is_text(annotation: ast.expr | None) -> bool:
    node = _parse_string(annotation) if annotation is not None else None
    return isinstance(node, ast.Name) and node.id == "str"


def _defaults_to_none(arguments: ast.arguments, argument: ast.arg) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return any(a is argument and isinstance(d, ast.Constant) and d.value is None for a, d in pairs)


def _annotation_kind(context: Context, annotation: ast.expr | None, name: str) -> tuple[Kind, frozenset[Assumption]]:
    nothing = frozenset[Assumption]()
    if annotation is None:
        return Kind.MAYBE, nothing
    node = _parse_string(annotation)
    options = _union_members(node)
    kinds = {_simple_annotation(context, option) for option in options}
    if kinds == {Kind.TENSOR}:
        return Kind.TENSOR, nothing
    if kinds == {Kind.TENSOR, None}:
        return Kind.TENSOR, frozenset({Assumption(f"{name} is not None", annotation.lineno)})
    if kinds == {Kind.NUMBER}:
        return Kind.NUMBER, nothing
    if kinds <= {Kind.OTHER, None}:
        return Kind.OTHER, nothing
    return Kind.MAYBE, nothing


def _parse_string(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation


def _union_members(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_union_members(left), *_union_members(right)]
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return [*_union_members(inner), ast.Constant(None)]
        case ast.Subscript(value=ast.Name(id="Union") | ast.Attribute(attr="Union"), slice=ast.Tuple(elts=parts)):
            return [member for part in parts for member in _union_members(part)]
        case _:
            return [node]


_TENSOR_ANNOTATIONS = frozenset(
    {
        "Tensor",
        "FloatTensor",
        "LongTensor",
        "HalfTensor",
        "DoubleTensor",
        "BoolTensor",
        "IntTensor",
        "ByteTensor",
        "BFloat16Tensor",
    }
)


def _simple_annotation(context: Context, node: ast.expr) -> Kind | None:
    """The kind that an annotation without unions names; None stands for the annotation None."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    dotted = _qualified_annotation(context, node)
    if dotted.startswith("torch.") and dotted.rpartition(".")[2] in _TENSOR_ANNOTATIONS:
        return Kind.TENSOR
    if dotted.startswith("numpy."):
        return Kind.OTHER
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return Kind.TENSOR
    if isinstance(node, ast.Name) and node.id in ("int", "float", "bool"):
        return Kind.NUMBER
    if isinstance(node, ast.Name) and node.id in ("str", "bytes", "list", "dict", "tuple", "set"):
        return Kind.OTHER
    if isinstance(node, ast.Subscript) and not dotted.startswith("typing.Annotated"):
        return Kind.OTHER
    return Kind.MAYBE


def _qualified_annotation(context: Context, node: ast.expr) -> str:
    """The dotted name of an annotation. One parsed out of a string has no place: its first name is the module's."""
    if node in context.source.parents:
        return context.names.qualified(node) or ""
    dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    first, _, rest = dotted.partition(".")
    bindings = context.names.local_bindings(context.source.tree).get(first, [])
    qualified = {b.qualified for b in bindings}
    base = qualified.pop() if len(qualified) == 1 else None
    return "" if base is None else f"{base}.{rest}".rstrip(".")


def _number_annotation(annotation: ast.expr | None) -> str | None:
    node = _parse_string(annotation) if annotation is not None else None
    name = node.id if isinstance(node, ast.Name) else None
    return name if name in (None, "bool") else f"{name} at most"
