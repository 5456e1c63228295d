"""From the annotation of a parameter, or its default value, to what its argument may look like."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.equivalence.example import Expression
from gbfix.equivalence.forms import ContainerForm, Form, NumberForm, TensorForm
from gbfix.equivalence.model import Parameter

SHARED_SIZES = {"size_4": 2, "size_3": 4, "size_2": 2, "size_1": 3}
"""The symbols of the dimensions that all tensors of unknown shape share, the last dimension last."""

DEFAULT_RANK = 2

DEFAULT_KEYS = ("a", "b", "c")
"""Of a dict of which nothing tells the keys."""

_TENSORS = {
    "Tensor": "float32",
    "FloatTensor": "float32",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "BoolTensor": "bool",
    "HalfTensor": "float16",
    "DoubleTensor": "float64",
}
_NUMBERS: dict[str, Form] = {
    "int": NumberForm((2, 0, 1, -1, 5)),
    "float": NumberForm((0.5, 0.0, -0.0, 1.0, -1.5, float("nan"), float("inf"))),
    "bool": NumberForm((False, True)),
    "complex": NumberForm((1 + 1j, 0j)),
    "str": NumberForm(("a", "")),
    "None": NumberForm((None,)),
    "NoneType": NumberForm((None,)),
}
_OPAQUE: dict[str, Form] = {
    "dtype": Expression("torch.float32"),
    "device": Expression('torch.device("cpu")'),
    "Size": ContainerForm("tuple", (("0", NumberForm((2,))), ("1", NumberForm((3,))))),
}
_INDEX_WORDS = ("index", "indices", "idx", "ids", "labels", "targets")


def forms_of(parameter: Parameter) -> tuple[Form, ...]:
    """What the argument may be, the ordinary first; empty when neither annotation nor default tell."""
    default = default_forms(parameter.default) if parameter.default is not None else ()
    return merged((*default, *annotation_forms(parameter.annotation, parameter.name)))


def annotation_forms(annotation: str, name: str) -> tuple[Form, ...]:
    """What an annotation allows: tensors, scalars, Literal, Optional and unions, list, tuple and dict of these."""
    try:
        node = ast.parse(annotation.strip(), mode="eval").body
    except SyntaxError:
        return ()
    return merged(_forms(node, name))


def guessed_tensor(name: str) -> tuple[Form, ...]:
    """A tensor for a parameter of which nothing is known, with the dtypes that its name suggests."""
    return _tensor_forms("float32", name)


def default_forms(default: str) -> tuple[Form, ...]:
    """The default value, and others of its type; its repr is parsed. None tells no type."""
    try:
        value = ast.literal_eval(default)
    except (ValueError, SyntaxError):
        value = {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf")}.get(default, ...)
    if isinstance(value, bool):
        return (NumberForm((value, not value)),)
    if value is None or isinstance(value, str | complex):
        return (NumberForm((value,)),)
    if isinstance(value, int | float):
        others = _NUMBERS[type(value).__name__]
        assert isinstance(others, NumberForm)
        return (NumberForm((value, *(n for n in others.values if repr(n) != repr(value)))),)
    if isinstance(value, tuple | list):
        items = [default_forms(repr(item)) for item in value]
        if all(items):
            return (ContainerForm(type(value).__name__, tuple((str(i), forms[0]) for i, forms in enumerate(items))),)
    return ()


def _forms(node: ast.expr, name: str) -> tuple[Form, ...]:
    match node:
        case ast.Constant(value=None):
            return (_NUMBERS["None"],)
        case ast.Constant(value=str(text)):
            return annotation_forms(text, name)
        case ast.Name() | ast.Attribute():
            return _named(_last_name(node), name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return (*_forms(left, name), *_forms(right, name))
        case ast.Subscript(value=value, slice=inner):
            arguments = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
            return _subscripted(_last_name(value), arguments, name)
    return ()


def _named(word: str, name: str) -> tuple[Form, ...]:
    if word in _TENSORS:
        return _tensor_forms(_TENSORS[word], name)
    if word in _NUMBERS:
        return (_NUMBERS[word],)
    if word in _OPAQUE:
        return (_OPAQUE[word],)
    generic = {"list": "list", "List": "list", "tuple": "tuple", "Tuple": "tuple", "dict": "dict", "Dict": "dict"}
    if word in generic:
        return _container(generic[word], list(_tensor_forms("float32", name)), 2)
    return ()


def _subscripted(word: str, arguments: list[ast.expr], name: str) -> tuple[Form, ...]:
    if word == "Optional":
        return (*_forms(arguments[0], name), _NUMBERS["None"])
    if word == "Union":
        return tuple(form for argument in arguments for form in _forms(argument, name))
    if word in ("Annotated", "Final"):
        return _forms(arguments[0], name)
    if word == "Literal":
        return (NumberForm(tuple(ast.literal_eval(argument) for argument in arguments)),)
    if word in ("list", "List", "Sequence", "Iterable", "Collection"):
        return _container("list", list(_forms(arguments[0], name)), 2)
    if word in ("dict", "Dict", "Mapping", "MutableMapping"):
        return _container("dict", list(_forms(arguments[-1], name)), 2)
    if word in ("tuple", "Tuple"):
        if len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is ...:
            return _container("tuple", list(_forms(arguments[0], name)), 2)
        items = [_forms(argument, name) for argument in arguments]
        if all(items):
            return (ContainerForm("tuple", tuple((str(i), forms[0]) for i, forms in enumerate(items))),)
    return ()


def _container(kind: str, forms: list[Form], length: int) -> tuple[Form, ...]:
    """Containers of the ordinary item: of some items, of one, and empty."""
    if not forms:
        return ()
    keys = DEFAULT_KEYS if kind == "dict" else ("0", "1", "2")
    return tuple(ContainerForm(kind, tuple((key, forms[0]) for key in keys[:n])) for n in (length, 1, 0))


def _tensor_forms(dtype: str, name: str) -> tuple[Form, ...]:
    shape = tuple(SHARED_SIZES)[-DEFAULT_RANK:]
    dtypes = [dtype]
    if dtype == "float32" and "mask" in name.lower():
        dtypes = ["bool", dtype]
    elif dtype == "float32" and any(word in name.lower().split("_") for word in (*_INDEX_WORDS, "label", "target")):
        dtypes = ["int64", dtype]
    return tuple(tensor_form(one, shape, free_rank=True) for one in dtypes)


def tensor_form(dtype: str, shape: tuple[int | str, ...], *, free_rank: bool = False) -> TensorForm:
    """A contiguous tensor; the elements of an integer one could be indices."""
    form = TensorForm(dtype, shape, free_rank=free_rank)
    return TensorForm(dtype, shape, free_rank=free_rank, low=0, high=1) if form.integer else form


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def merged(forms: Sequence[Form]) -> tuple[Form, ...]:
    """Each form once, and all scalars as one form in the place of the first of them."""
    scalars = [form for form in forms if isinstance(form, NumberForm)]
    values = {repr(value): value for form in scalars for value in form.values}
    scalar = NumberForm(tuple(values.values()))
    found = [scalar if isinstance(form, NumberForm) else form for form in forms if form != NumberForm(())]
    return tuple({repr(form): form for form in found}.values())
