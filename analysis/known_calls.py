"""Calls whose meaning is known: functions of torch, methods of tensors, modules of torch.nn, builtins."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gbfix.analysis import values as v
from gbfix.analysis.asked import names_classes
from gbfix.analysis.effects import Note, Write
from gbfix.analysis.literals import is_literal, is_text_of_infinity, number_in, shorten
from gbfix.analysis.operations import (
    add_hazard,
    apply_operator,
    check_need,
    in_range,
    of_something_else,
)
from gbfix.analysis.operators import (
    CASTS,
    CONTIGUOUS_MODULES,
    EVIDENCE_METHODS,
    FACTORIES,
    FLOATING_MODULES,
    FUNCTIONS_ONLY,
    LIKE_FACTORIES,
    MAY_WRITE_BY_POSITION,
    METADATA_METHODS,
    METADATA_WRITERS,
    OPERATORS,
    RANDOM_FACTORIES,
    STATELESS_MODULES,
    Gradient,
    Need,
    Shape,
)
from gbfix.analysis.values import Assumption, Category, DType, Kind, Value

if TYPE_CHECKING:
    from gbfix.analysis.evaluate import Evaluation

_NAMESPACES = ("torch.", "torch.nn.functional.", "torch.special.", "torch.linalg.", "torch.Tensor.")
_TORCH_STATIC = frozenset(
    f"torch.{name}"
    for name in [
        "is_tensor",
        "is_floating_point",
        "is_complex",
        "is_grad_enabled",
        "is_autocast_enabled",
        "is_inference_mode_enabled",
        "compiler.is_compiling",
        "compiler.is_dynamo_compiling",
        "jit.is_scripting",
        "jit.is_tracing",
        "get_default_dtype",
        "device",
        "promote_types",
        "result_type",
        "can_cast",
        "numel",
        "cuda.is_available",
        "finfo",
        "iinfo",
        "Size",
        "broadcast_shapes",
    ]
)
_PURE_BUILTINS = frozenset(
    {
        "len",
        "isinstance",
        "hasattr",
        "type",
        "id",
        "range",
        "tuple",
        "list",
        "dict",
        "str",
        "repr",
        "issubclass",
        "callable",
    }
)
_DRAWING_WRITERS = frozenset(
    ["bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"]
)
"""https://docs.pytorch.org/docs/stable/torch.html#in-place-random-sampling"""
_TENSOR_KEYWORDS = frozenset({"other", "min", "max", "mask", "value", "input", "weight", "bias"})


def evaluate_call(evaluation: Evaluation, node: ast.Call) -> Value:
    """The facts about the value of a call; one that is not known may do anything."""
    qualified = evaluation.context.names.qualified(node.func)
    if qualified is not None:
        known = _library_call(evaluation, qualified, node)
        if known is not None:
            return known
    if isinstance(node.func, ast.Attribute) and qualified is None:
        member = evaluation.context.member(node.func)
        if member is not None and member.kind is Kind.MODULE:
            return _module_call(evaluation, member, node)
        known = _method_call(evaluation, node.func, node)
        if known is not None:
            return known
    if isinstance(node.func, ast.Name) and evaluation.context.names.is_builtin(node.func, node.func.id):
        known = _builtin_call(evaluation, node.func.id, node)
        if known is not None:
            return known
    if qualified is not None and qualified.startswith("numpy."):
        evaluation.impure(f"what {shorten(evaluation.text(node.func))}(...) does is not known", node, Write.ANYTHING)
        return Value(Kind.OTHER, class_name="numpy")
    inlined = evaluation.context.inline(evaluation, node)
    if inlined is not None:
        return inlined
    for argument in arguments_of(node):
        evaluation.value(argument)
    evaluation.impure(f"what {shorten(evaluation.text(node.func))}(...) does is not known", node, Write.ANYTHING)
    return evaluation.opaque(node)


def _module_call(evaluation: Evaluation, module: Value, node: ast.Call) -> Value:
    """The result of calling a module that `__init__` made; only known classes of torch.nn are free of state."""
    found = [evaluation.value(argument) for argument in arguments_of(node)]
    name = (module.class_name or "").rpartition(".")[2]
    known = (module.class_name or "").startswith("torch.nn.") and name in STATELESS_MODULES
    weights = evaluation.text(node.func)
    if not known:
        evaluation.impure(f"what the module {weights} does is not known to be free of state", node, Write.ANYTHING)
    evaluation.effects.heavy.append(Note(f"{weights}(...) is a whole module", node.lineno))
    facts = tuple((value.shape, value.dtype, value.layout, value.devices) for value in found)
    token = v.term("module", weights, evaluation.context.generation(node), facts)
    evaluation.require(("fits", token), f"the input of {shorten(evaluation.text(node))} fits the module", node)
    result = v.opaque_tensor(token, weights, fresh=known, kind=Kind.TENSOR if known else Kind.MAYBE)
    if not known:
        return result
    gradient = STATELESS_MODULES[name]
    safe = gradient is Gradient.SAFE or evaluation.gradients_off
    own = None if safe else add_hazard(evaluation, gradient, node)
    sources = v.union_sources(found)
    return replace(
        result,
        layout=v.CONTIGUOUS if name in CONTIGUOUS_MODULES else v.term("dense", (token,)),
        dtype=DType(v.term("dtype", token), Category.FLOAT if name in FLOATING_MODULES else None),
        sources=frozenset() if evaluation.gradients_off else sources | {weights},
        hazard=None if evaluation.gradients_off else v.worst([*(value.hazard for value in found), own]),
    )


def _library_call(evaluation: Evaluation, qualified: str, node: ast.Call) -> Value | None:
    """The result of a function of torch or math; None when it is not known."""
    name = qualified.rpartition(".")[2]
    if qualified in ("torch.finfo", "torch.iinfo"):
        return _finfo(evaluation, name, node)
    if qualified in _TORCH_STATIC:
        for argument in arguments_of(node):
            evaluation.value(argument)
        if name in ("device", "promote_types", "result_type", "can_cast", "numel", "Size", "broadcast_shapes"):
            _must_not_raise(evaluation, "static", node)
        return v.OTHER
    if qualified == "torch._higher_order_ops.print":
        for argument in arguments_of(node):
            evaluation.value(argument)
        evaluation.impure(f"{shorten(evaluation.text(node))} prints", node)
        return v.NONE
    if qualified in ("torch.equal", "torch.allclose"):
        for argument in arguments_of(node):
            evaluation.value(argument)
        _must_not_raise(evaluation, "whole", node)
        evaluation.reads_value(node)
        return Value(Kind.NUMBER, number="bool", scalar_of=evaluation.opaque(node, Kind.TENSOR))
    if qualified.startswith("math."):
        found = [evaluation.value(argument) for argument in arguments_of(node)]
        _must_not_raise(evaluation, "math", node)
        return Value(Kind.NUMBER, number="float", scalar_of=next((f for f in found if f.tensor_like), None))
    namespace = qualified[: -len(name)]
    if qualified == "torch.Tensor.item":
        return None
    if namespace == "torch." and name in LIKE_FACTORIES and node.args:
        return _like_factory(evaluation, name, node)
    if namespace == "torch." and name in FACTORIES:
        return _factory(evaluation, name, node)
    if namespace not in _NAMESPACES or name not in OPERATORS or not node.args:
        return None
    return _operation(evaluation, name, node.args[0], node.args[1:], node, proves=True)


def _finfo(evaluation: Evaluation, name: str, node: ast.Call) -> Value:
    """`torch.finfo(dtype)` or `torch.iinfo(dtype)`, with the dtype whose range it gives."""
    dtype: DType | None = None
    for argument in arguments_of(node):
        evaluation.value(argument)
        dtype = _dtype_named(evaluation, argument)
    wanted = Category.FLOAT if name == "finfo" else Category.INT
    if dtype is None:
        _must_not_raise(evaluation, "static", node)
    elif dtype.category is not wanted:
        kind = Need.FLOATING if name == "finfo" else Need.INTEGRAL
        evaluation.require(
            (kind.name, dtype.term), f"the dtype in {shorten(evaluation.text(node))} is {kind.value}", node
        )
    return Value(Kind.OTHER, class_name=name, inside=dtype.term if dtype is not None else None)


def _dtype_named(evaluation: Evaluation, node: ast.expr) -> DType | None:
    """The dtype that an expression such as `torch.float16` or `x.dtype` names."""
    qualified = evaluation.context.names.qualified(node)
    if qualified is not None:
        return v.concrete_dtype(qualified.removeprefix("torch.")) if qualified.startswith("torch.") else None
    if isinstance(node, ast.Attribute) and node.attr == "dtype":
        owner = evaluation.value(node.value)
        return owner.dtype if owner.tensor_like else None
    return None


def _method_call(evaluation: Evaluation, func: ast.Attribute, node: ast.Call) -> Value | None:
    """The result of a method of a tensor; None when receiver or method are not known."""
    receiver = evaluation.value(func.value)
    name = func.attr
    if not receiver.tensor_like:
        if (
            receiver.kind is Kind.OTHER
            and receiver.class_name in ("tensor.shape", "str")
            and name in ("numel", "index", "count")
        ):
            return v.number("int")
        return None
    if receiver.kind is Kind.MAYBE:
        if name not in EVIDENCE_METHODS or evaluation.context.is_self(func.value):
            return None
        receiver = replace(
            receiver.assuming([Assumption(f"{evaluation.text(func.value)} is a tensor", node.lineno)]), kind=Kind.TENSOR
        )
    if name in METADATA_METHODS:
        for argument in arguments_of(node):
            evaluation.value(argument)
        if name in ("size", "stride") and node.args:
            evaluation.require(("index", *evaluation.here(node)), f"{evaluation.text(node)} exists", node)
        elif name in ("size", "stride"):
            return Value(Kind.OTHER, class_name="tensor.shape")
        return v.number("int")
    if name == "item" and not node.args:
        evaluation.reads_value(node)
        if not receiver.has_one_element:
            evaluation.require(("one", receiver.shape), f"{evaluation.text(func.value)} has one element", node)
        return Value(Kind.NUMBER, number=_scalar_type(receiver), scalar_of=receiver, assumed=receiver.assumed)
    if name == "tolist" and not node.args:  # a list, and a number where there is no dimension
        evaluation.reads_value(node)
        return Value(assumed=receiver.assumed)
    if name in CASTS and not node.args:
        if name != "bool":
            check_need(evaluation, Need.REAL, name, [func.value], [(func.value, receiver)], node, "")
        return _cast(receiver, CASTS[name])
    if name == "to" and (moved := _moved(evaluation, func.value, receiver, node)) is not None:
        return moved
    if name.endswith("_") and not name.endswith("__"):
        writes = Write.ANYTHING if name in METADATA_WRITERS else Write.DATA
        evaluation.impure(f"{shorten(evaluation.text(node))} writes in place", node, writes)
        if name in _DRAWING_WRITERS:
            _draws(evaluation, node)
        for argument in arguments_of(node):
            evaluation.value(argument)
        if writes is Write.ANYTHING:
            return evaluation.opaque(node, Kind.TENSOR)
        return replace(receiver, fresh=False)
    if name in OPERATORS and name != "where" and name not in FUNCTIONS_ONLY:
        return _operation(evaluation, name, func.value, node.args, node, receiver=receiver)
    return None


def _operation(
    evaluation: Evaluation,
    name: str,
    first: ast.expr,
    rest: Sequence[ast.expr],
    node: ast.Call,
    *,
    receiver: Value | None = None,
    proves: bool = False,
) -> Value:
    """A call of a known operation. A function of torch proves that its first argument is a tensor."""
    operator = OPERATORS[name]
    start = receiver if receiver is not None else evaluation.value(first)
    if proves and start.tensor_like and (start.kind is Kind.MAYBE or start.assumed) and name != "where":
        # The function raises for anything else, so that its result is a tensor wherever there is one.
        evaluation.require(("tensor", start.shape), f"{evaluation.text(first)} is a tensor", node)
        start = replace(start, kind=Kind.TENSOR, assumed=frozenset())
    if not start.tensor_like:
        return _of_sequence(evaluation, name, node)
    operands, found, options = _operands_and_options(evaluation, name, first, start, rest, node)
    _notes_on(evaluation, name, options, node)
    if name == "clamp" and not rest and not node.keywords:
        _must_not_raise(evaluation, "bounds", node)
    if name == "dropout" and "training=False" in options:
        return replace(start, fresh=False)
    if name == "masked_fill":
        if _mask_fits(found):
            operator = replace(operator, needs=operator.needs - {Need.FITS})
        if len(found) > 1 and found[1].tensor_like:
            found[1] = replace(found[1], dtype=found[0].dtype)
    return apply_operator(evaluation, name, operator, operands, found, node, ", ".join(options))


def _operands_and_options(
    evaluation: Evaluation, name: str, first: ast.expr, start: Value, rest: Sequence[ast.expr], node: ast.Call
) -> tuple[list[ast.expr], list[Value], list[str]]:
    """The operands of an operation with their values, and the text of its options."""
    operator = OPERATORS[name]
    operands, found, options = [first], [start], list[str]()
    for argument in rest:
        value = evaluation.value(argument)
        if len(operands) < operator.operands and not isinstance(argument, ast.Starred):
            operands.append(argument)
            found.append(value)
        else:
            options.append(_option(evaluation, argument))
    for keyword in node.keywords:
        value = evaluation.value(keyword.value)
        if keyword.arg in _TENSOR_KEYWORDS and operator.shape is not Shape.REDUCE:
            operands.append(keyword.value)
            found.append(value)
        else:
            options.append(f"{keyword.arg}={_option(evaluation, keyword.value)}")
    return operands, found, options


def _notes_on(evaluation: Evaluation, name: str, options: Sequence[str], node: ast.Call) -> None:
    """What some options of an operation do besides: write in place, write into `out`, warn."""
    words = {option.partition("=")[0]: option.partition("=")[2] for option in options}
    text = shorten(evaluation.text(node))
    by_position = [option for option in options if "=" not in option and number_in(option) is None]
    if words.get("inplace", "False") != "False" or (name in MAY_WRITE_BY_POSITION and by_position):
        evaluation.impure(f"{text} may write in place", node, Write.DATA)
    if "out" in words or "max_norm" in words or "None" in words:
        evaluation.impure(f"{text} may write into an argument", node, Write.ANYTHING)
    if name in ("softmax", "log_softmax", "softmin") and not options:
        evaluation.impure(f"{text} warns about its missing dim", node)


def _of_sequence(evaluation: Evaluation, name: str, node: ast.Call) -> Value:
    """A torch function whose first argument is a sequence of tensors (`torch.cat`), or no tensor at all."""
    for argument in arguments_of(node):
        evaluation.value(argument)
    _must_not_raise(evaluation, "fits", node)
    if OPERATORS[name].random:
        _draws(evaluation, node)
    hazard = add_hazard(evaluation, Gradient.SINGULAR, node)
    return replace(evaluation.opaque(node, Kind.TENSOR), fresh=True, hazard=hazard)


def _option(evaluation: Evaluation, node: ast.expr) -> str:
    """The text of an option; one that is not a constant carries its place, so that two never agree by chance."""
    return (
        evaluation.text(node) if is_literal(node) else f"{evaluation.text(node)}@{evaluation.context.generation(node)}"
    )


def _cast(receiver: Value, name: str) -> Value:
    """The result of `x.float()` and the like, which may be the receiver itself."""
    dtype = v.concrete_dtype(name)
    sources = receiver.sources if dtype is not None and dtype.category is Category.FLOAT else frozenset[v.Term]()
    return replace(
        receiver,
        kind=Kind.TENSOR,
        dtype=dtype,
        layout=v.term("cast", name, receiver.layout),
        fresh=False,
        sources=sources,
    )


def _moved(evaluation: Evaluation, tensor: ast.expr, receiver: Value, node: ast.Call) -> Value | None:
    """The result of `x.to(other.device, torch.float32)` and the like; None where the arguments do not say it."""
    dtype, devices = receiver.dtype, receiver.devices
    for argument in [*node.args, *(one.value for one in node.keywords if one.arg in ("dtype", "device"))]:
        named = _dtype_named(evaluation, argument)
        if named is not None and evaluation.context.names.qualified(argument) is not None:
            dtype = named
            continue
        if not isinstance(argument, ast.Attribute) or argument.attr not in ("dtype", "device"):
            return None
        owner = evaluation.value(argument.value)
        if owner.kind is not Kind.TENSOR or owner.assumed:
            return None
        dtype, devices = (owner.dtype, devices) if argument.attr == "dtype" else (dtype, owner.devices)
    rest = [one for one in node.keywords if one.arg not in ("dtype", "device")]
    if dtype is None or any(one.arg != "non_blocking" or not is_literal(one.value) for one in rest):
        return None
    if dtype == receiver.dtype and devices == receiver.devices:
        return replace(receiver, fresh=False)
    if dtype != receiver.dtype:
        check_need(evaluation, Need.REAL, "to", [tensor], [(tensor, receiver)], node, "")
    gone = dtype.category in (Category.BOOL, Category.INT)
    layout = v.term("cast", dtype.term, frozenset(devices), receiver.layout)
    return replace(
        receiver,
        dtype=dtype,
        devices=devices,
        layout=layout,
        fresh=False,
        sources=frozenset() if gone else receiver.sources,
    )


def _like_factory(evaluation: Evaluation, name: str, node: ast.Call) -> Value:
    """The result of `torch.zeros_like(x)` and the like."""
    like = evaluation.value(node.args[0])
    if not like.tensor_like:
        return of_something_else(evaluation, node)
    if like.kind is Kind.MAYBE:
        evaluation.require(("tensor", like.shape), f"{evaluation.text(node.args[0])} is a tensor", node)
        like = replace(like, kind=Kind.TENSOR)
    for argument in arguments_of(node)[1:]:
        evaluation.value(argument)
    if name in ("full_like", "randint_like") and len(arguments_of(node)) < 2:
        _must_not_raise(evaluation, "arguments", node)
    if name == "full_like":
        for fill in arguments_of(node)[1:2]:
            in_range(evaluation, fill, (node.args[0], like), node)
    if name in RANDOM_FACTORIES:
        _draws(evaluation, node)
    words = {keyword.arg for keyword in node.keywords}
    dtype = _dtype_option(evaluation, node) or (
        DType(v.term(name, _option(evaluation, node))) if "dtype" in words else like.dtype
    )
    return Value(
        Kind.TENSOR,
        shape=like.shape,
        dtype=dtype,
        layout=v.term("layout", evaluation.text(node)) if words else v.dense_layout([like]),
        devices=frozenset({("device", evaluation.text(node))}) if "device" in words else like.devices,
        one=like.one,
        fresh=True,
        sources=frozenset({evaluation.text(node)}) if "requires_grad" in words else frozenset(),
        assumed=like.assumed,
    )


def _factory(evaluation: Evaluation, name: str, node: ast.Call) -> Value:
    """The result of `torch.zeros(...)` and the like."""
    for argument in arguments_of(node):
        evaluation.value(argument)
    if name in RANDOM_FACTORIES:
        _draws(evaluation, node)
    if not all(is_literal(argument) for argument in node.args):
        _must_not_raise(evaluation, "sizes", node)
    words = {keyword.arg for keyword in node.keywords}
    scalar = name == "tensor" and node.args and isinstance(node.args[0], ast.Constant)
    size = (
        _option(evaluation, node.args[0])
        if len(node.args) == 1
        else ",".join(_option(evaluation, a) for a in node.args)
    )
    result = v.opaque_tensor(v.term(name, size), None, fresh=name not in ("as_tensor", "from_numpy"), kind=Kind.TENSOR)
    device = "device" in words
    return replace(
        result,
        shape=v.SCALAR_SHAPE if scalar else result.shape,
        layout="scalar" if scalar else result.layout,
        one=bool(scalar),
        dtype=_dtype_option(evaluation, node) or _factory_dtype(name, node, words),
        devices=frozenset({("device", evaluation.text(node))}) if device else frozenset({"default device"}),
        sources=frozenset({evaluation.text(node)}) if "requires_grad" in words else frozenset(),
    )


def _dtype_option(evaluation: Evaluation, node: ast.Call) -> DType | None:
    """The dtype that the keyword `dtype=` names, None without one."""
    for keyword in node.keywords:
        if keyword.arg == "dtype":
            qualified = evaluation.context.names.qualified(keyword.value) or ""
            if qualified.startswith("torch."):
                return v.concrete_dtype(qualified[len("torch.") :])
            if isinstance(keyword.value, ast.Attribute) and keyword.value.attr == "dtype":
                return evaluation.value(keyword.value.value).dtype
    return None


def _builtin_call(evaluation: Evaluation, name: str, node: ast.Call) -> Value | None:
    """The result of a builtin function; None when it is not known."""
    found = [evaluation.value(argument) for argument in arguments_of(node)]
    if name in ("bool", "int", "float") and len(found) == 1:
        inner = found[0]
        if inner.kind is Kind.TENSOR:
            evaluation.reads_value(node)
        harmless = is_text_of_infinity(node) or (name == "bool" and inner.kind is Kind.NUMBER)
        if not harmless:
            _must_not_raise(evaluation, "builtin", node)
        return Value(
            Kind.NUMBER,
            number=name,
            scalar_of=inner if inner.kind is Kind.TENSOR else inner.scalar_of,
            assumed=inner.assumed,
        )
    if name in ("len", "id"):
        if name == "len":
            _must_not_raise(evaluation, "builtin", node)
        return v.number("int")
    if name in ("isinstance", "hasattr", "callable", "issubclass"):
        if name == "issubclass" or (name == "isinstance" and not names_classes(evaluation, node.args[-1])):
            _must_not_raise(evaluation, "builtin", node)
        return v.number("bool")
    if name in ("abs", "min", "max", "round", "sum", "pow", "divmod") and all(f.kind is Kind.NUMBER for f in found):
        _must_not_raise(evaluation, "builtin", node)
        return v.number()
    if name in _PURE_BUILTINS:
        _must_not_raise(evaluation, "builtin", node)
        if name in ("str", "repr") and any(f.tensor_like for f in found):
            evaluation.impure(f"{shorten(evaluation.text(node))} reads a tensor's values", node)
        return v.OTHER
    if name == "print":
        evaluation.impure(f"{shorten(evaluation.text(node))} prints", node)
        return v.NONE
    return None


def _must_not_raise(evaluation: Evaluation, kind: str, node: ast.expr) -> None:
    evaluation.require((kind, *evaluation.here(node)), f"{shorten(evaluation.text(node))} does not raise", node)


def _draws(evaluation: Evaluation, node: ast.expr) -> None:
    evaluation.effects.random.append(Note(f"{shorten(evaluation.text(node))} draws random numbers", node.lineno))


def _mask_fits(found: Sequence[Value]) -> bool:
    """True when a masked_fill has a bool mask of its tensor's own shape, so that only its value could make it raise."""
    if len(found) < 3 or found[2].kind is not Kind.NUMBER:
        return False
    tensor, mask = found[:2]
    bools = mask.dtype is not None and mask.dtype.category is Category.BOOL
    return bools and tensor.shape == mask.shape and tensor.devices == mask.devices


def _scalar_type(receiver: Value) -> str | None:
    category = receiver.dtype.category if receiver.dtype else None
    return {Category.BOOL: "bool", Category.INT: "int", Category.FLOAT: "float"}.get(category) if category else None


def _factory_dtype(name: str, node: ast.Call, words: set[str | None]) -> DType:
    if "dtype" in words:
        return DType(v.term(name, "dtype", ast.dump(node)))
    if name in ("zeros", "ones", "empty", "rand", "randn", "eye", "linspace"):
        return DType("default dtype", Category.FLOAT)
    if name in ("randint", "randperm"):
        return v.INT64
    first = node.args[0] if node.args else None
    if name == "tensor" and isinstance(first, ast.Constant):
        kinds = {bool: v.BOOL, int: v.INT64, float: DType("default dtype", Category.FLOAT)}
        return kinds.get(type(first.value), DType(v.term(name, ast.dump(node))))
    return DType(v.term(name, ast.dump(node)))


def arguments_of(node: ast.Call) -> list[ast.expr]:
    """Every argument of a call, keywords last."""
    return [*node.args, *(keyword.value for keyword in node.keywords)]
