"""What a call looks like before its sizes are numbers and its tensors have elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from gbfix.equivalence.example import (
    Constant,
    Container,
    Drawn,
    Example,
    Expression,
    Listed,
    Recipe,
    SameAs,
    Scalar,
    TensorRecipe,
)
from gbfix.equivalence.sizes import Size, number_of

_T = TypeVar("_T")


@dataclass(frozen=True)
class TensorForm:
    """A tensor. layout, expanded, requires_grad, parameter: as in `TensorRecipe`.

    strides: those of a call in which the tensor had the shape `strided_shape`; at other sizes only their order is kept.
    free_rank: nothing tells the rank. low, high: the range of the elements of an integer tensor, None for any.
    elements: those that an integer tensor had in a recorded call, where it had the shape `filled_shape`.
    """

    dtype: str
    shape: tuple[Size, ...]
    layout: str = "contiguous"
    expanded: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    strided_shape: tuple[int, ...] = ()
    requires_grad: bool = False
    parameter: bool = False
    free_rank: bool = False
    low: int | None = None
    high: int | None = None
    elements: tuple[int, ...] = ()
    filled_shape: tuple[int, ...] = ()

    @property
    def floating(self) -> bool:
        """Of a floating dtype, so that other floating dtypes may do."""
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def differentiable(self) -> bool:
        """May require gradients."""
        return self.floating or self.dtype.startswith("complex")

    @property
    def integer(self) -> bool:
        """Of an integer dtype, bool excluded."""
        return self.dtype.startswith(("int", "uint"))


@dataclass(frozen=True)
class NumberForm:
    """A Python scalar or text: one of the values, the first of which is the ordinary one."""

    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class ContainerForm:
    """kind: "tuple", "list" or "dict"."""

    kind: str
    items: tuple[tuple[str, Form], ...]


Form: TypeAlias = TensorForm | NumberForm | ContainerForm | Expression | SameAs


@dataclass(frozen=True)
class CallForm:
    """A call. arguments: as in `Example`. sizes: the number that each symbol stands for."""

    arguments: tuple[tuple[str, Form], ...]
    sizes: tuple[tuple[str, int], ...] = ()
    grad_enabled: bool = True
    training: bool | None = None
    module_seed: int = 0

    def with_sizes(self, sizes: dict[str, int]) -> CallForm:
        """The call with some sizes changed."""
        return replace(self, sizes=tuple({**dict(self.sizes), **sizes}.items()))

    def with_argument(self, name: str, form: Form | None) -> CallForm:
        """The call with an argument replaced, or added at the end, or (None) left out."""
        arguments = dict(self.arguments)
        if form is None:
            arguments.pop(name, None)
        else:
            arguments[name] = form
        return replace(self, arguments=tuple(arguments.items()))

    def with_any_elements(self) -> CallForm:
        """The call without the elements that its tensors had when it was recorded."""
        return self.with_tensors(lambda _, form: replace(form, elements=()) if form.elements else form)

    def with_tensors(self, change: Callable[[str, TensorForm], Form]) -> CallForm:
        """The call with each tensor, also those in containers, changed; it is named by its path ("xs[0]")."""
        return replace(self, arguments=tuple((name, _changed(name, form, change)) for name, form in self.arguments))


def _changed(path: str, form: Form, change: Callable[[str, TensorForm], Form]) -> Form:
    if isinstance(form, TensorForm):
        return change(path, form)
    if isinstance(form, ContainerForm):
        return replace(form, items=tuple((key, _changed(f"{path}[{key}]", item, change)) for key, item in form.items))
    return form


def distinct(items: Iterable[_T]) -> tuple[_T, ...]:
    """Each once, told apart by their reprs: 0.0 equals -0.0 and 1 equals True, while NaN does not equal itself."""
    return tuple({repr(item): item for item in items}.values())


def tensors_of(call: CallForm) -> Iterator[tuple[str, TensorForm]]:
    """The tensors of a call by their paths, also those in containers."""
    for name, form in call.arguments:
        yield from _tensors(name, form)


def _tensors(path: str, form: Form) -> Iterator[tuple[str, TensorForm]]:
    if isinstance(form, TensorForm):
        yield path, form
    elif isinstance(form, ContainerForm):
        for key, item in form.items:
            yield from _tensors(f"{path}[{key}]", item)


def shape_of(form: TensorForm, call: CallForm) -> tuple[int, ...]:
    """The shape in numbers; sizes that an expression makes negative are 0."""
    sizes = dict(call.sizes)
    return tuple(max(number_of(size, sizes), 0) for size in form.shape)


ElementsOf: TypeAlias = Callable[[str, TensorForm, tuple[int, ...]], Listed | Drawn]
"""The elements of the tensor with this path, of this shape (that before it is expanded)."""


def example_of(call: CallForm, elements: ElementsOf, number: Callable[[str, NumberForm], Scalar]) -> Example:
    """The call with its tensors filled and its numbers chosen."""

    def recipe(path: str, form: Form) -> Recipe:
        match form:
            case TensorForm():
                return _tensor_recipe(path, form, shape_of(form, call), elements)
            case NumberForm():
                return Constant(number(path, form))
            case ContainerForm():
                return Container(form.kind, tuple((key, recipe(f"{path}[{key}]", item)) for key, item in form.items))
            case _:
                return form

    arguments = tuple((name, recipe(name, form)) for name, form in call.arguments)
    return Example(arguments, None, call.grad_enabled, call.training, call.module_seed)


def _tensor_recipe(path: str, form: TensorForm, shape: tuple[int, ...], elements: ElementsOf) -> TensorRecipe:
    layout, expanded, strides = form.layout, form.expanded, form.strides
    if layout == "strided" and shape != form.strided_shape:
        strides = _dense_strides(shape, form.strides)
    expanded = tuple(i for i in expanded if i < len(shape) and shape[i] > 1) if layout == "expanded" else ()
    if (layout == "expanded" and not expanded) or len(shape) < {"transposed": 2, "sliced": 1}.get(layout, 0):
        layout = "contiguous"
    base = tuple(1 if i in expanded else size for i, size in enumerate(shape))
    known = form.elements if base == form.filled_shape and (form.integer or form.dtype == "bool") else ()
    return TensorRecipe(
        dtype=form.dtype,
        shape=shape,
        values=Listed(known) if known else elements(path, form, base),
        layout=layout,
        expanded=expanded,
        strides=strides if layout == "strided" else (),
        requires_grad=form.requires_grad and form.differentiable,
        parameter=form.parameter,
    )


def _dense_strides(shape: tuple[int, ...], like: tuple[int, ...]) -> tuple[int, ...]:
    """Strides without gaps, in the same order of dimensions."""
    strides, step = [0] * len(shape), 1
    for dimension in sorted(range(len(shape)), key=lambda i: (like[i], -i)):
        strides[dimension] = step
        step *= max(shape[dimension], 1)
    return tuple(strides)
