"""Observed shapes broadcast as in PyTorch, run by run, and are never mixed between lines."""

from __future__ import annotations

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gbfix.analysis import sizes
from gbfix.analysis.terms import term

SHAPES = st.lists(st.integers(1, 3), max_size=3).map(tuple)


@settings(deadline=None)
@given(SHAPES, SHAPES)
def test_broadcasting_two_shapes(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    found = sizes.broadcast({sizes.observed("here", [first]), sizes.observed("here", [second])})
    try:
        expected = torch.broadcast_shapes(first, second)
    except RuntimeError:
        assert found is None
    else:
        assert found == frozenset({sizes.observed("here", [tuple(expected)])})


def test_shapes_that_differ_from_run_to_run_broadcast_each() -> None:
    batch = sizes.observed("line 3", [(2, 4), (5, 4)])
    row = sizes.observed("line 3", [(4,), (4,)])
    assert sizes.broadcast({batch, row}) == frozenset({batch})
    assert sizes.broadcast({batch, sizes.observed("line 3", [(2, 4), (2, 4)])}) is None


def test_what_differs_is_worth_something_at_its_own_line_only() -> None:
    here, there = (sizes.observed(place, [(2,), (3,)]) for place in ("line 3", "line 9"))
    assert here != there
    assert sizes.broadcast({here, there}) is None


def test_what_is_always_the_same_is_worth_the_same_everywhere() -> None:
    assert sizes.observed("line 3", [(2,), (2,)]) == sizes.observed("line 9", [(2,)])


def test_a_shape_that_was_not_observed_keeps_the_result_unknown() -> None:
    unknown = term("shape", "x")
    assert sizes.broadcast({unknown, sizes.observed("line 3", [(2,)])}) is None
    assert sizes.ranks({unknown}) == set()
    assert sizes.sample({unknown}) is None
    assert sizes.element_counts(unknown) is None


def test_facts_of_an_observed_shape() -> None:
    shape = sizes.observed("line 3", [(2, 3), (4,), ()])
    assert sizes.ranks({shape}) == {2, 1, 0}
    assert sizes.element_counts(shape) == {6, 4, 1}
    assert sizes.sample({shape}) == (2, 3)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=4).map(tuple))
def test_contiguous_strides(shape: tuple[int, ...]) -> None:
    tensor = torch.empty(shape)
    if math.prod(shape):
        assert sizes.contiguous_strides(shape) == tensor.stride()
