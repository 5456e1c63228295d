"""Type promotion by name gives what PyTorch gives."""

from __future__ import annotations

import itertools

import pytest
import torch

from gbfix.analysis.dtypes import promote, promote_types

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
NAMES = ["bool", *INTEGERS, "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
PAIRS = list(itertools.product(NAMES, NAMES))


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_dtypes(first: str, second: str) -> None:
    assert promote_types(first, second) == name_of(torch.promote_types(getattr(torch, first), getattr(torch, second)))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_tensors_with_and_without_dimensions(first: str, second: str) -> None:
    for dimensions in itertools.product((0, 1), repeat=2):
        one, other = (
            torch.ones((2,) * count, dtype=getattr(torch, name))
            for count, name in zip(dimensions, (first, second), strict=True)
        )
        found = promote([(first, bool(dimensions[0])), (second, bool(dimensions[1]))])
        assert found in (None, name_of(torch.result_type(one, other)))
        half_with_complex = {"float16", "bfloat16"} & {first, second} and {"complex64", "complex128"} & {first, second}
        assert found is not None or half_with_complex


def test_three_tensors() -> None:
    assert promote([("int32", True), ("float64", False), ("uint8", True)]) == "float64"
    assert promote([("float16", True), ("float64", False), ("bfloat16", True)]) == "float32"


def test_an_unknown_dtype_is_not_guessed() -> None:
    assert promote_types("float8_e4m3fn", "float32") is None
    assert promote([("float32", True), ("quint8", True)]) is None
    assert promote([]) is None
