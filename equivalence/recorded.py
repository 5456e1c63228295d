"""From the arguments of recorded calls to calls whose sizes are symbols."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.equivalence.annotations import tensor_form
from gbfix.equivalence.example import Expression, Scalar
from gbfix.equivalence.forms import CallForm, ContainerForm, Form, NumberForm, TensorForm, distinct
from gbfix.equivalence.sizes import DEFAULT_SIZE, Size, equal_in_all, number_of, symbols_of
from gbfix.evidence.model import ArgumentsSeen

_OPAQUE = {"torch.dtype": "torch.float32", "torch.device": 'torch.device("cpu")', "slice": "slice(None)"}
_DTYPES = ("float", "bfloat", "int", "uint", "bool", "complex")
_UNFIXED: dict[str, tuple[Scalar, ...]] = {
    "bool": (False, True),
    "int": (2, 0, 1, -1, 5),
    "float": (0.5, 0.0, -0.0, -1.5, float("nan"), float("inf")),
    "complex": (1 + 1j, 0j),
    "str": ("a", ""),
}


def recorded_calls(seen: Sequence[ArgumentsSeen]) -> tuple[CallForm, ...]:
    """Each recorded call, the most frequent first. Sizes that were equal in all of them have the same symbol.

    An argument that cannot be made (a module, an object of the program's) is missing from its call.
    """
    ordered = sorted(seen, key=lambda one: -one.calls)
    calls = [_filled(_call(one.values), kept) for one in ordered for kept in one.integers or ({},)]
    rows = [dict(_places(call)) for call in calls]
    first = equal_in_all([{place: size for place, size in row.items() if isinstance(size, int)} for row in rows])
    names = {place: f"n{index}" for index, place in enumerate(dict.fromkeys(first.values()))}
    found = []
    for call, row in zip(calls, rows, strict=True):
        symbols = {place: names[first[place]] for place, size in row.items() if isinstance(size, int)}
        sizes = {symbols[place]: size for place, size in row.items() if isinstance(size, int)}
        found.append(_with_symbols(call, symbols).with_sizes(sizes))
    return distinct(found)


def unknown_arguments(seen: Sequence[ArgumentsSeen]) -> dict[str, str]:
    """The arguments that no recorded call tells how to make, with their types."""
    found: dict[str, str] = {}
    for one in seen:
        for name, spec in one.values.items():
            if name != "self" and _form(spec) is None:
                found.setdefault(name, spec.type or spec.kind)
    return found


def _call(values: Mapping[str, ValueSpec]) -> CallForm:
    """The call with the sizes as they were recorded, open ones with a number for each symbol."""
    forms: dict[str, Form] = {}
    rest: dict[str, list[Form]] = {}
    for name, spec in values.items():
        form = None if name == "self" else _form(spec)
        if form is None:
            continue
        star, bracket, _ = name.partition("[")
        if bracket:
            rest.setdefault(f"*{star}", []).append(form)
        else:
            forms[name] = form
    for name, items in rest.items():
        forms[name] = ContainerForm("tuple", tuple((str(i), item) for i, item in enumerate(items)))
    training = dict(values["self"].items).get("training") if "self" in values else None
    call = CallForm(tuple(forms.items()), training=None if training is None else training.value == "True")
    symbols = {symbol for _, size in _places(call) for symbol in symbols_of(size)}
    return call.with_sizes({symbol: DEFAULT_SIZE + 2 * i for i, symbol in enumerate(sorted(symbols))})


def _filled(call: CallForm, kept: Mapping[str, Sequence[int]]) -> CallForm:
    """The call with the elements of integer tensors that were kept of it."""
    sizes = dict(call.sizes)

    def filled(path: str, form: TensorForm) -> Form:
        shape = tuple(max(number_of(size, sizes), 0) for size in form.shape)
        numbers = tuple(kept.get(path, ()))
        return replace(form, elements=numbers, filled_shape=shape) if len(numbers) == math.prod(shape) else form

    return call.with_tensors(filled) if kept else call


def _places(call: CallForm) -> Iterator[tuple[str, Size]]:
    """Every size of every tensor, by tensor, rank and dimension."""
    found: list[tuple[str, Size]] = []

    def note(path: str, form: TensorForm) -> Form:
        found.extend((_place(path, form, i), size) for i, size in enumerate(form.shape))
        return form

    call.with_tensors(note)
    return iter(found)


def _place(path: str, form: TensorForm, dimension: int) -> str:
    return f"{path} of {len(form.shape)} [{dimension}]"


def _with_symbols(call: CallForm, symbols: Mapping[str, str]) -> CallForm:
    def renamed(path: str, form: TensorForm) -> Form:
        shape = tuple(symbols.get(_place(path, form, i), size) for i, size in enumerate(form.shape))
        return replace(form, shape=shape)

    return call.with_tensors(renamed)


def _form(spec: ValueSpec) -> Form | None:
    if spec.kind == "tensor":
        return None if spec.tensor is None else _tensor(spec, spec.tensor)
    if spec.kind == "none":
        return NumberForm((None,))
    if spec.kind in _UNFIXED:
        return _scalar(spec)
    if spec.kind in ("list", "tuple", "dict") and spec.length in (None, len(spec.items)):
        items = [(key, _form(item)) for key, item in spec.items]
        known = tuple((key, item) for key, item in items if item is not None)
        return ContainerForm(spec.kind, known) if len(known) == len(items) else None
    return Expression(_OPAQUE[spec.type]) if spec.type in _OPAQUE else None


def _scalar(spec: ValueSpec) -> Form | None:
    if not spec.value:
        return NumberForm(_UNFIXED[spec.kind])
    special = {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf")}
    try:
        value: Scalar = special[spec.value] if spec.value in special else ast.literal_eval(spec.value)
    except (ValueError, SyntaxError):
        return None
    return None if spec.kind == "str" and spec.length is not None else NumberForm((value,))


def _tensor(spec: ValueSpec, tensor: TensorSpec) -> Form | None:
    if not tensor.dtype.startswith(_DTYPES):
        return None
    form = replace(
        tensor_form(tensor.dtype, tensor.shape),
        requires_grad=tensor.requires_grad,
        parameter=spec.type.endswith(".Parameter"),
    )
    if not all(isinstance(size, int) for size in (*tensor.shape, *tensor.stride)):
        return form
    shape = tuple(number_of(size, {}) for size in tensor.shape)
    strides = tuple(number_of(stride, {}) for stride in tensor.stride)
    return with_strides(form, shape, strides)


def with_strides(form: TensorForm, shape: tuple[int, ...], strides: tuple[int, ...]) -> TensorForm:
    """The layout that strides amount to; contiguous also where elements overlap in a way that no recipe has."""
    real = [i for i, size in enumerate(shape) if size > 1]
    expanded = tuple(i for i in real if strides[i] == 0)
    if len(strides) != len(shape) or 0 in shape:
        return form
    if expanded:
        return replace(form, layout="expanded", expanded=expanded)
    if [strides[i] for i in real] == [_contiguous(shape)[i] for i in real]:
        return form
    reach = 0
    for i in sorted(real, key=lambda i: strides[i]):
        if strides[i] <= reach:
            return form
        reach += strides[i] * (shape[i] - 1)
    return replace(form, layout="strided", strides=strides, strided_shape=shape)


def _contiguous(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]
