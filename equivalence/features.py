"""Named changes to a call, one at a time: another dtype, size, rank, layout, an alias, another number.

Which of them a program takes, only a run can tell; the names are what the caller reports back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from gbfix.equivalence.annotations import SHARED_SIZES
from gbfix.equivalence.example import Expression, SameAs
from gbfix.equivalence.forms import CallForm, ContainerForm, Form, NumberForm, TensorForm, shape_of, tensors_of
from gbfix.equivalence.sizes import symbols_of

LARGE = 257
ALL_REQUIRE_GRAD = "requires grad"
GROUPS = (
    "form",
    "rank",
    "rank of one",
    "dtype",
    "dtype of one",
    "range",
    "size",
    "size of one",
    "layout",
    "grad",
    "alias",
    "left out",
)
"""In the order in which changes are made: an alias needs equal shapes and dtypes. "of one": of one tensor only."""

_MOST_TENSORS = 4
"""Of calls with more tensors, only the first get changes of their own."""


@dataclass(frozen=True)
class Feature:
    """A change. group: one of `GROUPS`.

    symbol: the one that a change to any other size concerns.
    """

    name: str
    group: str
    change: Callable[[CallForm], CallForm]
    symbol: str = ""


def features_of(
    call: CallForm, forms: Mapping[str, Sequence[Form]], optional: Sequence[str], floating: Sequence[str]
) -> tuple[Feature, ...]:
    """All changes that alter the call, in the order in which several are made.

    forms: what else an argument may be, by name; optional: arguments with a default; floating: floating dtypes allowed.
    """
    found = [
        *_forms(call, forms),
        *_ranks(call),
        *_dtypes(call, floating),
        *_ranges(call),
        *_sizes(call),
        *_layouts(call),
        *_gradients(call),
        *_aliases(call),
        *_left_out(optional),
    ]
    named = {feature.name: feature for feature in found}
    return tuple(feature for feature in named.values() if repr(feature.change(call)) != repr(call))


def _forms(call: CallForm, forms: Mapping[str, Sequence[Form]]) -> Iterator[Feature]:
    for name, options in forms.items():
        for form in options:
            if isinstance(form, NumberForm):
                for value in form.values:
                    yield _set(f"{name}={value!r}", name, NumberForm((value,)))
            else:
                yield _set(f"{name} is {_form_text(form)}", name, form)
    for name, form in call.arguments:
        value = form.values[0] if isinstance(form, NumberForm) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield _set(other_number(name), name, NumberForm((value + 3,)))


def other_number(name: str) -> str:
    """The name of the change to another ordinary number."""
    return f"other {name}"


def _set(title: str, name: str, form: Form) -> Feature:
    return Feature(title, "form", lambda call: call.with_argument(name, form))


def _form_text(form: Form) -> str:
    if isinstance(form, TensorForm):
        return f"a {form.dtype} tensor"
    if isinstance(form, ContainerForm):
        return f"a {form.kind} of {len(form.items)}"
    return form.source if isinstance(form, Expression) else str(form)


def _ranks(call: CallForm) -> Iterator[Feature]:
    free = [path for path, form in tensors_of(call) if form.free_rank]
    if not free:
        return
    for rank in (1, 3, 4, 0):
        yield Feature(f"rank {rank}", "rank", lambda call, rank=rank: _reshaped(call, free, rank))  # type: ignore[misc]
    yield Feature("all sizes equal", "rank", _square)
    if len(free) > 1:
        for path in free[:_MOST_TENSORS]:
            for rank in (1, 0, 3):
                name = f"rank {rank} of {path}"
                yield Feature(name, "rank of one", lambda call, path=path, rank=rank: _reshaped(call, [path], rank))  # type: ignore[misc]


def _reshaped(call: CallForm, paths: Sequence[str], rank: int) -> CallForm:
    shape = tuple(SHARED_SIZES)[len(SHARED_SIZES) - rank :]
    return call.with_tensors(lambda path, form: replace(form, shape=shape) if path in paths else form)


def _square(call: CallForm) -> CallForm:
    last = tuple(SHARED_SIZES)[-1]
    return call.with_tensors(lambda _, form: replace(form, shape=(last,) * len(form.shape)) if form.free_rank else form)


def _dtypes(call: CallForm, floating: Sequence[str]) -> Iterator[Feature]:
    paths = [path for path, form in tensors_of(call) if form.floating]
    half = [dtype for dtype in floating if dtype in ("float16", "bfloat16")]
    for dtype in (*half, "int64", "bool", *(one for one in floating if one not in half), "int32", "uint8"):
        if paths:
            yield _cast(dtype, paths, dtype)
    for path in paths[:_MOST_TENSORS] if len(paths) > 1 else []:
        for dtype in (*[one for one in floating if one in ("float16", "float64")], "int64", "bool"):
            yield _cast(f"{dtype} of {path}", [path], dtype, group="dtype of one")
    for path, form in list(tensors_of(call))[:_MOST_TENSORS]:
        if form.integer or form.dtype == "bool":
            for dtype in ("int32", "int64", "uint8", "bool", *floating[:1]):
                yield _cast(f"{dtype} of {path}", [path], dtype)


def _cast(name: str, paths: Sequence[str], dtype: str, group: str = "dtype") -> Feature:
    def change(path: str, form: TensorForm) -> Form:
        if path not in paths or form.dtype == dtype:
            return form
        low, high = (form.low, form.high) if form.integer else (-3, 9)
        return replace(form, dtype=dtype, low=low, high=high)

    return Feature(name, group, lambda call: call.with_tensors(change))


def _ranges(call: CallForm) -> Iterator[Feature]:
    for path, form in tensors_of(call):
        if form.integer:
            for text, low, high in (("up to 3", 0, 3), ("negative", -3, 3), ("any", None, None)):
                name = f"{path} {text}"
                yield Feature(name, "range", lambda call, p=path, low=low, high=high: _ranged(call, p, low, high))  # type: ignore[misc]


def _ranged(call: CallForm, path: str, low: int | None, high: int | None) -> CallForm:
    return call.with_tensors(lambda p, form: replace(form, low=low, high=high) if p == path and form.integer else form)


def _sizes(call: CallForm) -> Iterator[Feature]:
    places: dict[str, list[tuple[str, int]]] = {}
    for path, form in tensors_of(call):
        for dimension, size in enumerate(form.shape):
            for symbol in symbols_of(size):
                places.setdefault(symbol, []).append((path, dimension))
    sizes = dict(call.sizes)
    for symbol, ((path, dimension), *more) in places.items():
        title = f"{path}[{dimension}]"
        other = other_size(sizes[symbol])
        yield _resized(f"size 0 of {title}", symbol, 0)
        yield _resized(f"size 1 of {title}", symbol, 1)
        yield replace(_resized(f"other size of {title}", symbol, other), symbol=symbol)
        yield _resized(f"large size of {title}", symbol, LARGE)
        for place in [(path, dimension), *more][: _MOST_TENSORS if more else 0]:
            for size in (other, 1):
                yield _alone(f"size {'1' if size == 1 else 'different'} of only {place[0]}[{place[1]}]", place, size)


def other_size(size: int) -> int:
    """An odd size that is neither 1 nor the given one."""
    return 5 if size in (3, 7) else 3 if size > 3 or size < 2 else 5


def _resized(name: str, symbol: str, size: int) -> Feature:
    return Feature(name, "size", lambda call: call.with_sizes({symbol: size}) if symbol in dict(call.sizes) else call)


def _alone(name: str, place: tuple[str, int], size: int) -> Feature:
    def change(path: str, form: TensorForm) -> Form:
        if path != place[0] or place[1] >= len(form.shape):
            return form
        return replace(form, shape=(*form.shape[: place[1]], size, *form.shape[place[1] + 1 :]))

    return Feature(name, "size of one", lambda call: call.with_tensors(change))


def _layouts(call: CallForm) -> Iterator[Feature]:
    for path, form in tensors_of(call):
        rank = len(form.shape)
        if rank >= 2:
            yield _laid_out(f"transposed {path}", path, "transposed")
        for dimension in range(min(rank, 2)):
            title = f"expanded {path}" if dimension == 0 else f"expanded {path}[{dimension}]"
            yield _laid_out(title, path, "expanded", (dimension,))
        if rank >= 1:
            yield _laid_out(f"sliced {path}", path, "sliced")
        yield _laid_out(f"offset {path}", path, "offset")
        if form.layout != "contiguous":
            yield _laid_out(f"contiguous {path}", path, "contiguous")


def _laid_out(name: str, path: str, layout: str, expanded: tuple[int, ...] = ()) -> Feature:
    def change(p: str, form: TensorForm) -> Form:
        return replace(form, layout=layout, expanded=expanded) if p == path else form

    return Feature(name, "layout", lambda call: call.with_tensors(change))


def _gradients(call: CallForm) -> Iterator[Feature]:
    paths = [path for path, form in tensors_of(call) if form.differentiable]
    if paths:
        yield _requiring(ALL_REQUIRE_GRAD, paths, required=True)
        yield _requiring("no tensor requires grad", paths, required=False)
    for path in paths[:_MOST_TENSORS] if len(paths) > 1 else []:
        yield _requiring(f"{path} requires grad", [path], required=True)
        yield _requiring(f"{path} without grad", [path], required=False)


def _requiring(name: str, paths: Sequence[str], *, required: bool) -> Feature:
    def change(path: str, form: TensorForm) -> Form:
        return replace(form, requires_grad=required) if path in paths and form.differentiable else form

    return Feature(name, "grad", lambda call: call.with_tensors(change))


def _aliases(call: CallForm) -> Iterator[Feature]:
    names = [name for name, form in call.arguments if isinstance(form, TensorForm)][:_MOST_TENSORS]
    for earlier, later in combinations(names, 2):
        yield _aliased(f"{later} is {earlier}", earlier, later, view=False)
        yield _aliased(f"{later} is a view of {earlier}", earlier, later, view=True)


def _aliased(name: str, earlier: str, later: str, *, view: bool) -> Feature:
    def change(call: CallForm) -> CallForm:
        forms = dict(call.arguments)
        one, other = forms.get(earlier), forms.get(later)
        if not isinstance(one, TensorForm) or not isinstance(other, TensorForm) or one.dtype != other.dtype:
            return call
        if shape_of(one, call) != shape_of(other, call):
            return call
        return call.with_argument(later, SameAs(earlier, view))

    return Feature(name, "alias", change)


def _left_out(optional: Sequence[str]) -> Iterator[Feature]:
    for name in optional:
        yield Feature(f"without {name}", "left out", lambda call, name=name: _without(call, name))  # type: ignore[misc]


def _without(call: CallForm, name: str) -> CallForm:
    aliased = any(isinstance(form, SameAs) and form.argument == name for _, form in call.arguments)
    return call if aliased else call.with_argument(name, None)
