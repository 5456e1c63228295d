"""Changes to the tensors of a call: rank, dtype, range, sizes, layout, gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gbfix.equivalence.annotations import SHARED_SIZES
from gbfix.equivalence.feature import MOST_TENSORS, Feature
from gbfix.equivalence.forms import CallForm, Form, TensorForm, tensors_of
from gbfix.equivalence.sizes import symbols_of

LARGE = 257
ALL_REQUIRE_GRAD = "requires grad"


def tensor_features(call: CallForm, floating: Sequence[str]) -> Iterator[Feature]:
    """The changes to one tensor or to all. floating: the floating dtypes allowed."""
    yield from _ranks(call)
    yield from _dtypes(call, floating)
    yield from _ranges(call)
    yield from _sizes(call)
    yield from _layouts(call)
    yield from _gradients(call)


def _ranks(call: CallForm) -> Iterator[Feature]:
    free = [path for path, form in tensors_of(call) if form.free_rank]
    if not free:
        return
    yield Feature("all sizes equal", "rank", _square)
    for rank in (3, 1, 4, 0):
        yield Feature(f"rank {rank}", "rank", lambda call, rank=rank: _reshaped(call, free, rank))  # type: ignore[misc]
    if len(free) > 1:
        for path in free[:MOST_TENSORS]:
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
    """Other dtypes. A recorded tensor keeps to its kind: a program that was run on floats is not meant for integers."""
    tensors = list(tensors_of(call))
    paths = [path for path, form in tensors if form.floating]
    any_kind = bool(paths) and all(form.free_rank for _, form in tensors if form.floating)
    other_kinds = ("int64", "bool") if any_kind else ()
    half = [dtype for dtype in floating if dtype in ("float16", "bfloat16")]
    rest = [dtype for dtype in floating if dtype not in half]
    for dtype in (*half, "int64", "bool", *rest, "int32", "uint8") if any_kind else (*half, *rest):
        if paths:
            yield _cast(dtype, paths, dtype)
    for path in paths[:MOST_TENSORS] if len(paths) > 1 else []:
        for dtype in (*[one for one in floating if one in ("float16", "float64")], *other_kinds):
            yield _cast(f"{dtype} of {path}", [path], dtype, group="dtype of one")
    for path, form in tensors[:MOST_TENSORS]:
        if form.integer or (form.dtype == "bool" and form.free_rank):
            others = ("uint8", "bool", *floating[:1]) if form.free_rank else ()
            for dtype in ("int32", "int64", *others):
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
    def change(place: str, form: TensorForm) -> Form:
        return replace(form, low=low, high=high, elements=()) if place == path and form.integer else form

    return call.with_tensors(change)


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
        for place in [(path, dimension), *more][: MOST_TENSORS if more else 0]:
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
    for path in paths[:MOST_TENSORS] if len(paths) > 1 else []:
        yield _requiring(f"{path} requires grad", [path], required=True)
        yield _requiring(f"{path} without grad", [path], required=False)


def _requiring(name: str, paths: Sequence[str], *, required: bool) -> Feature:
    def change(path: str, form: TensorForm) -> Form:
        return replace(form, requires_grad=required) if path in paths and form.differentiable else form

    return Feature(name, "grad", lambda call: call.with_tensors(change))
