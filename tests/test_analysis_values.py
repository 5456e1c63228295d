from __future__ import annotations

import itertools

import pytest
import torch
from facts import value_of

from gbfix.analysis import values as v
from gbfix.analysis.values import Category, DType, Kind, Value


def tensor(dtype: str, dimensions: bool = True) -> Value:
    made = v.opaque_tensor(dtype, None)
    shape = made.shape if dimensions else v.SCALAR_SHAPE
    concrete = v.concrete_dtype(dtype)
    assert concrete is not None
    return Value(Kind.TENSOR, shape=shape, dtype=concrete)


CATEGORIES = {"complex32": Category.COMPLEX, **v.CONCRETE}
NAMES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
SCALARS = {"bool": True, "int": 2, "float": 2.5}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scalar", SCALARS)
def test_promotion_with_a_number_agrees_with_torch(name: str, scalar: str) -> None:
    real = torch.result_type(torch.ones(2, dtype=getattr(torch, name)), SCALARS[scalar])
    found = v.promote([tensor(name), v.number(scalar)])
    if isinstance(found.term, str):
        assert getattr(torch, found.term) is real
    assert found.category in (None, CATEGORIES[str(real).removeprefix("torch.")])


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(NAMES, 2)])
@pytest.mark.parametrize("dimensions", [True, False])
def test_promotion_of_tensors_agrees_with_torch(first: str, second: str, dimensions: bool) -> None:
    shape = (2,) if dimensions else ()
    operands = torch.ones(2, dtype=getattr(torch, first)), torch.ones(shape, dtype=getattr(torch, second))
    real = torch.result_type(*operands)
    found = v.promote([tensor(first), tensor(second, dimensions)])
    if isinstance(found.term, str):
        assert getattr(torch, found.term) is real
    assert found.category in (None, CATEGORIES[str(real).removeprefix("torch.")])


def test_unknown_dtypes_with_equal_operands_are_equal() -> None:
    assert value_of("x + y").dtype == value_of("x * y").dtype
    assert value_of("x + 1").dtype == value_of("x * 2").dtype


def test_a_float_and_an_integer_make_different_dtypes_of_an_unknown_one() -> None:
    assert value_of("x + 1").dtype != value_of("x + 1.0").dtype
    assert value_of("x.float() + 1").dtype == value_of("x.float() + 1.0").dtype


def test_an_index_may_change_which_operand_has_dimensions() -> None:
    # x[0] may be 0-d where x is not, and 0-d tensors count less in promotion.
    assert value_of("x[0] + y").dtype != value_of("x + y").dtype


def test_join_keeps_what_both_share() -> None:
    one, other = value_of("x + 1"), value_of("x * 2")
    joined = v.join(one, other, "token")
    assert joined.shape == one.shape
    assert joined.dtype == one.dtype
    assert joined.kind is Kind.TENSOR
    assert joined.fresh


def test_join_of_a_tensor_and_a_number_may_be_either() -> None:
    joined = v.join(value_of("x"), v.number("float"), "token")
    assert joined.kind is Kind.MAYBE
    assert joined.shape is not None


def test_terms_do_not_grow_with_the_length_of_a_function() -> None:
    value = v.opaque_tensor("x", None)
    for _ in range(200):
        value = Value(
            Kind.TENSOR, shape=value.shape, dtype=value.dtype, layout=v.term("pair", value.layout, value.layout)
        )
    assert hash(value.layout) == hash(value.layout)


@pytest.mark.parametrize("name", ["half", "float", "double", "long"])
def test_synonyms_name_one_dtype(name: str) -> None:
    found = v.concrete_dtype(name)
    assert found is not None
    assert getattr(torch, str(found.term)) is getattr(torch, name)


def test_floating_keeps_what_is_floating() -> None:
    assert v.floating(DType("float16", Category.FLOAT)) == DType("float16", Category.FLOAT)
    assert v.floating(DType("int64", Category.INT)).category is Category.FLOAT
