"""What the exception of a call suggests to call instead: a size or a key that its text names, another rank or dtype.

Annotations tell no sizes; a module with a fixed number of features tells it in the exception that it raises.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gbfix.equivalence.annotations import DEFAULT_KEYS, SHARED_SIZES, guessed_tensor
from gbfix.equivalence.forms import CallForm, ContainerForm, Form, TensorForm, distinct, shape_of, tensors_of
from gbfix.equivalence.model import Raised

_MOST_NUMBERS = 6
_MOST_TENSORS = 3
_LARGEST = 4096
"""Of a size: larger numbers in a text are counts of elements."""
_RANKS = (3, 4, 1, 2)
_INTEGER_WORDS = ("Long", "int64", "integer", "must be long")


def suggested_by(call: CallForm, raised: Raised) -> tuple[CallForm, ...]:
    """Calls that differ from one which raised, the likeliest first. Only tensors whose shape nothing tells change."""
    free = [path for path, form in tensors_of(call) if form.free_rank]
    groups = [free, *([path] for path in free[:_MOST_TENSORS] if len(free) > 1)] if free else []
    found = [
        *_with_key(call, raised),
        *(_integers(call, group) for group in groups if any(word in raised.text for word in _INTEGER_WORDS)),
        *_with_sizes(call, groups, named_numbers(call, raised)),
        *_of_other_ranks(call, groups),
    ]
    return tuple(each for each in distinct(found) if repr(each) != repr(call))


def named_numbers(call: CallForm, raised: Raised) -> tuple[int, ...]:
    """The numbers in the text that could be sizes, those first that no tensor of the call has."""
    found = dict.fromkeys(int(number) for number in re.findall(r"\d{1,4}", raised.text))
    present = {size for _, form in tensors_of(call) for size in shape_of(form, call)}
    sizes = [number for number in found if 1 < number <= _LARGEST]
    return tuple(sorted(sizes, key=lambda number: number in present)[:_MOST_NUMBERS])


def _with_key(call: CallForm, raised: Raised) -> Iterator[CallForm]:
    """For a KeyError: the missing key in a dict, in place of keys that were made up."""
    key = _text_of(raised.text) if raised.type.rpartition(".")[2] == "KeyError" else None
    if key is None:
        return
    for name, form in call.arguments:
        if isinstance(form, ContainerForm) and form.kind == "dict" and form.items:
            known = [(each, item) for each, item in form.items if each not in DEFAULT_KEYS]
            item: Form = form.items[0][1]
            if isinstance(item, TensorForm) and item.free_rank:
                item = guessed_tensor(key)[0]
            yield call.with_argument(name, replace(form, items=(*known, (key, item))))


def _text_of(source: str) -> str | None:
    try:
        value = ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def _integers(call: CallForm, paths: Sequence[str]) -> CallForm:
    return _changed(call, paths, lambda form: replace(form, dtype="int64", low=0, high=1) if form.floating else form)


def _with_sizes(call: CallForm, groups: Sequence[Sequence[str]], numbers: Sequence[int]) -> Iterator[CallForm]:
    """The last size, and that of the channels, of all tensors as what it is called, of one tensor as a number."""
    for index, paths in enumerate(groups):
        for number in numbers:
            for dimension in (-1, 1, 0):
                if index == 0 and dimension:
                    symbols = {str(form.shape[dimension]) for path, form in tensors_of(call) if _has(form, dimension)}
                    yield call.with_sizes({symbol: number for symbol in symbols if symbol in dict(call.sizes)})
                else:
                    yield _changed(call, paths, lambda form, d=dimension, n=number: _sized(form, d, n))  # type: ignore[misc]


def _has(form: TensorForm, dimension: int) -> bool:
    """The second dimension is not tried as well where it is the last."""
    return form.free_rank and len(form.shape) > (2 if dimension == 1 else 0)


def _sized(form: TensorForm, dimension: int, size: int) -> TensorForm:
    if not _has(form, dimension):
        return form
    shape = list(form.shape)
    shape[dimension] = size
    return replace(form, shape=tuple(shape))


def _of_other_ranks(call: CallForm, groups: Sequence[Sequence[str]]) -> Iterator[CallForm]:
    """As many of the last shared sizes; one tensor also with the first sizes of the one with most dimensions."""
    shared = tuple(SHARED_SIZES)
    longest = max((form.shape for _, form in tensors_of(call)), key=len, default=())
    for paths in groups:
        for rank in _RANKS:
            shapes = [
                shared[len(shared) - rank :],
                *([longest[:rank]] if len(paths) == 1 and rank < len(longest) else []),
            ]
            for shape in shapes:
                yield _changed(call, paths, lambda form, shape=shape: replace(form, shape=shape))  # type: ignore[misc]


def _changed(call: CallForm, paths: Sequence[str], change: Callable[[TensorForm], Form]) -> CallForm:
    return call.with_tensors(lambda path, form: change(form) if path in paths else form)
