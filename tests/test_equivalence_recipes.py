"""Arguments from recipes: the exact tensors, and source text that makes the very same."""

import io
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gbfix.equivalence.example import (
    Constant,
    Container,
    Drawn,
    Example,
    Expression,
    Given,
    Listed,
    SameAs,
    TensorRecipe,
)
from gbfix.equivalence.model import Parameter
from gbfix.equivalence.recipes import arguments_source, build, call_text

X = Parameter("x", "POSITIONAL_OR_KEYWORD")
Y = Parameter("y", "POSITIONAL_OR_KEYWORD")
N = Parameter("n", "KEYWORD_ONLY", required=False, default="1")
REST = Parameter("rest", "VAR_POSITIONAL", required=False)
OPTIONS = Parameter("options", "VAR_KEYWORD", required=False)

FLOATS = ("float32", "float16", "bfloat16", "float64")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "int8", "bool", "complex64")


def tensor(recipe: TensorRecipe) -> torch.Tensor:
    (made,), _ = build(Example((("x", recipe),)), [X], "cpu")
    assert isinstance(made, torch.Tensor)
    return made


def bits(value: torch.Tensor) -> bytes:
    """The elements in row-major order as bytes, so that NaN and -0.0 count."""
    return value.detach().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8).numpy().tobytes()


def outline(value: Any, tensors: list[torch.Tensor]) -> Any:
    """A value as plain data: tensors with bits, strides, leaf, and which earlier ones they are or share memory with."""
    if isinstance(value, torch.Tensor):
        same = [i for i, other in enumerate(tensors) if other is value]
        shared = [
            i
            for i, other in enumerate(tensors)
            if other.untyped_storage().data_ptr() == value.untyped_storage().data_ptr() and value.numel()
        ]
        tensors.append(value)
        facts = (type(value), value.dtype, value.shape, value.stride(), value.storage_offset(), value.requires_grad)
        return facts, value.is_leaf, value._is_view(), bits(value), same, shared
    if isinstance(value, tuple | list):
        return type(value), [outline(item, tensors) for item in value]
    if isinstance(value, dict):
        return [(key, outline(item, tensors)) for key, item in value.items()]
    return type(value), repr(value)


def outlined(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
    return outline(arguments, [])


def from_source(example: Example, parameters: list[Parameter]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    statements, call = arguments_source(example, parameters, "cpu")
    names: dict[str, Any] = {"torch": torch, "call": lambda *args, **kwargs: (args, kwargs)}
    exec(f"{statements}\nresult = call({call})", names)
    result: tuple[tuple[Any, ...], dict[str, Any]] = names["result"]
    return result


def numbers(dtype: str) -> st.SearchStrategy[Any]:
    if dtype == "bool":
        return st.booleans()
    if dtype == "complex64":
        return st.complex_numbers(width=64)
    if dtype in FLOATS:
        return st.floats(width={"float64": 64, "float16": 16}.get(dtype, 32))  # type: ignore[arg-type]
    return st.integers(-300, 300)


@st.composite
def tensor_recipes(draw: st.DrawFn) -> TensorRecipe:
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 0, 9)), max_size=3)))
    layout = draw(st.sampled_from(("contiguous", "transposed", "sliced", "offset", "expanded")))
    expanded = tuple(draw(st.sets(st.integers(0, len(shape) - 1)))) if shape else ()
    base = TensorRecipe(dtype, shape, Listed(()), layout, expanded if layout == "expanded" else ())
    count = math.prod(1 if i in base.expanded and size > 1 else size for i, size in enumerate(shape))
    values: Listed | Drawn
    if count < 10 and draw(st.booleans()):
        values = Listed(tuple(draw(st.lists(numbers(dtype), min_size=count, max_size=count))))
    else:
        special = draw(
            st.lists(st.tuples(st.integers(0, 99), st.sampled_from((math.nan, -math.nan, math.inf, -0.0, 1e6))))
        )
        low, high = draw(st.sampled_from(((None, None), (0, 3))))
        clamped = (None, None) if dtype == "complex64" else (low, high)
        scale, shift = (
            draw(st.sampled_from((1.0, 0.0, 1e-41, 1e5))),
            draw(st.sampled_from((0.0, -0.0, 3.0, math.nan, -math.nan, torch.finfo(torch.float32).max))),
        )
        values = Drawn(draw(st.integers(0, 99)), scale, shift, tuple(special), *clamped)
    grad = dtype in (*FLOATS, "complex64") and draw(st.booleans())
    return TensorRecipe(dtype, shape, values, layout, base.expanded, (), grad, draw(st.booleans()) and grad)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    x = draw(tensor_recipes())
    y = draw(st.one_of(tensor_recipes(), st.just(SameAs("x")), st.just(SameAs("x", view=True))))
    n = draw(st.one_of(st.floats(), st.integers(), st.none(), st.booleans(), st.text(max_size=3), st.complex_numbers()))
    items = draw(st.lists(st.one_of(tensor_recipes(), st.just(Constant(n))), max_size=3))
    kind = draw(st.sampled_from(("list", "tuple", "dict")))
    container = Container(kind, tuple((str(i), item) for i, item in enumerate(items)))
    return Example((("x", x), ("y", y), ("n", Constant(n)), ("*rest", container), ("**options", Container("dict", ()))))


@settings(max_examples=150, deadline=None)
@given(examples())
def test_source_text_makes_the_same_arguments_bit_for_bit(example: Example) -> None:
    parameters = [X, Y, Parameter("n", "POSITIONAL_OR_KEYWORD"), REST, OPTIONS]
    assert outlined(from_source(example, parameters)) == outlined(build(example, parameters, "cpu"))


@settings(max_examples=50, deadline=None)
@given(tensor_recipes())
def test_the_same_recipe_makes_the_same_tensor_and_leaves_the_generator_alone(recipe: TensorRecipe) -> None:
    before = torch.get_rng_state()
    assert outline(tensor(recipe), []) == outline(tensor(recipe), [])
    assert torch.equal(before, torch.get_rng_state())


def test_listed_elements_are_row_major() -> None:
    made = tensor(TensorRecipe("float32", (2, 2), Listed((1.0, -0.0, math.nan, 4.0))))
    assert repr(made.tolist()) == "[[1.0, -0.0], [nan, 4.0]]"
    assert not made._is_view()


@pytest.mark.parametrize(
    ("layout", "strides", "offset"),
    [("contiguous", (3, 1), 0), ("transposed", (1, 2), 0), ("sliced", (6, 2), 0), ("offset", (3, 1), 6)],
)
def test_layouts_keep_the_elements(layout: str, strides: tuple[int, ...], offset: int) -> None:
    made = tensor(TensorRecipe("float32", (2, 3), Listed((1, 2, 3, 4, 5, 6)), layout, requires_grad=True))
    assert made.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert (made.stride(), made.storage_offset()) == (strides, offset)
    assert made.is_leaf
    assert made.requires_grad


def test_an_expanded_tensor_repeats_the_elements_along_the_other_dimensions() -> None:
    made = tensor(TensorRecipe("float32", (2, 3), Listed((1, 2, 3)), "expanded", expanded=(0,)))
    assert made.tolist() == [[1, 2, 3], [1, 2, 3]]
    assert made.stride() == (0, 1)


def test_strides_as_given() -> None:
    made = tensor(TensorRecipe("float32", (2, 2), Listed((1, 2, 3, 4)), "strided", strides=(1, 5)))
    assert (made.tolist(), made.stride()) == ([[1, 2], [3, 4]], (1, 5))


def test_a_layout_that_the_rank_does_not_allow_is_contiguous() -> None:
    assert tensor(TensorRecipe("float32", (3,), Drawn(0), "transposed")).stride() == (1,)
    assert tensor(TensorRecipe("float32", (), Drawn(0), "sliced")).shape == ()


def test_drawn_elements_round_and_stay_within_the_dtype() -> None:
    made = tensor(TensorRecipe("int64", (50,), Drawn(1, 2.0, 1.5, (), 0, 3)))
    assert set(made.tolist()) == {0, 1, 2, 3}
    assert tensor(TensorRecipe("uint8", (2,), Listed((-5, 300)))).tolist() == [0, 255]
    assert tensor(TensorRecipe("int64", (1,), Listed((2**63 - 1,)))).tolist() == [2**63 - 1]
    assert set(tensor(TensorRecipe("bool", (50,), Drawn(1))).tolist()) == {True, False}


def test_special_elements_are_put_in_by_index() -> None:
    made = tensor(TensorRecipe("float32", (2, 2), Drawn(0, special=((3, math.nan), (99, math.inf)))))
    assert [math.isnan(n) for n in made.flatten().tolist()] == [False, False, False, True]


def test_a_scale_of_zero_keeps_the_sign_of_zero() -> None:
    assert repr(tensor(TensorRecipe("float32", (2,), Drawn(0, 0.0, -0.0))).tolist()) == "[-0.0, -0.0]"


def test_the_same_object_and_a_view_of_it() -> None:
    x = TensorRecipe("float32", (2,), Listed((1, 2)), requires_grad=True)
    z = Parameter("z", "POSITIONAL_OR_KEYWORD")
    (one, same, view), _ = build(Example((("x", x), ("y", SameAs("x")), ("z", SameAs("x", True)))), [X, Y, z], "cpu")
    assert same is one
    assert view is not one
    assert view.data_ptr() == one.data_ptr()
    assert view.is_leaf
    assert view.requires_grad


def test_a_parameter() -> None:
    made = tensor(TensorRecipe("float32", (2,), Listed((1, 2)), requires_grad=True, parameter=True))
    assert isinstance(made, torch.nn.Parameter)


def test_arguments_go_by_position_where_the_kind_allows() -> None:
    example = Example(
        (
            ("x", Constant(1)),
            ("y", Constant(2)),
            ("n", Constant(3)),
            ("*rest", Container("tuple", (("0", Constant(4)),))),
            ("**options", Container("dict", (("k", Constant(5)),))),
        )
    )
    parameters = [X, Y, REST, N, OPTIONS]
    assert build(example, parameters, "cpu") == ((1, 2, 4), {"n": 3, "k": 5})
    assert from_source(example, parameters) == ((1, 2, 4), {"n": 3, "k": 5})


def test_arguments_after_one_that_is_left_out_go_by_keyword() -> None:
    example = Example((("y", Constant(2)),))
    assert build(example, [X, Y], "cpu") == ((), {"y": 2})


def test_expressions_are_evaluated_with_torch() -> None:
    (made,), _ = build(Example((("x", Expression("torch.float16")),)), [X], "cpu")
    assert made is torch.float16


def test_given_arguments_keep_aliases_and_have_source() -> None:
    x = torch.tensor([1.0, math.nan])
    saved = io.BytesIO()
    torch.save(((x, x), {"n": x[1:]}), saved)
    example = Example(given=Given(saved.getvalue(), "x"))
    (one, two), keywords = build(example, [], "cpu")
    assert one is two
    assert keywords["n"].untyped_storage().data_ptr() == one.untyped_storage().data_ptr()
    assert outlined(from_source(example, [])) == outlined(build(example, [], "cpu"))


def test_a_long_tensor_is_written_as_its_generator() -> None:
    recipe = TensorRecipe("float32", (20, 10), Drawn(3, 2.0, 1.0, ((11, math.nan),)))
    statements, _ = arguments_source(Example((("x", recipe),)), [X], "cpu")
    assert "manual_seed(3)" in statements
    assert "x[1, 1] = torch.nan" in statements
    assert len(statements) < 300


def test_short_numbers_are_written_as_a_person_would() -> None:
    recipe = TensorRecipe("float32", (2, 2), Listed((0.1, math.nan, -0.0, 3.0)), requires_grad=True)
    statements, call = arguments_source(Example((("x", recipe),)), [X], "cpu")
    tensor_text = "torch.tensor([[0.1, torch.nan], [-0.0, 3.0]], dtype=torch.float32)"
    assert statements == f"x = {tensor_text}.requires_grad_()"
    assert call == "x"


def test_another_device_is_named_in_the_source() -> None:
    statements, _ = arguments_source(Example((("x", TensorRecipe("float32", (1,), Listed((1,)))),)), [X], "cuda")
    assert statements == "x = torch.tensor([1.0], dtype=torch.float32).to('cuda')"


def test_the_call_in_one_line() -> None:
    example = Example(
        (
            ("x", TensorRecipe("float32", (7,), Listed((math.nan, 1, 0.1, 0, 0, 0, 0)), "sliced")),
            ("y", SameAs("x")),
            ("n", Constant(3)),
        ),
        grad_enabled=False,
        training=False,
        module_seed=2,
    )
    elements = "nan, 1.0, 0.1, 0.0, 0.0, 0.0, ..."
    assert call_text(example) == f"x=float32[7] [{elements}] sliced, y=x, n=3, grad off, eval, module seed 2"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@settings(max_examples=50, deadline=None)
@given(tensor_recipes())
def test_the_device_changes_neither_bits_nor_strides(recipe: TensorRecipe) -> None:
    (made,), _ = build(Example((("x", recipe),)), [X], "cuda")
    assert made.device.type == "cuda"
    assert (made.stride(), bits(made.cpu())) == (tensor(recipe).stride(), bits(tensor(recipe)))
