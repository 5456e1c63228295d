"""What annotations, default values and names of parameters say about arguments."""

import math

import pytest

from gbfix.equivalence.annotations import annotation_forms, default_forms, forms_of, guessed_tensor
from gbfix.equivalence.example import Expression
from gbfix.equivalence.forms import ContainerForm, Form, NumberForm, TensorForm
from gbfix.equivalence.model import Parameter

NONE = NumberForm((None,))


def dtypes(forms: tuple[Form, ...]) -> list[str]:
    return [form.dtype for form in forms if isinstance(form, TensorForm)]


@pytest.mark.parametrize("annotation", ["torch.Tensor", "Tensor", '"torch.Tensor"', "torch.FloatTensor"])
def test_a_tensor(annotation: str) -> None:
    (form,) = annotation_forms(annotation, "x")
    assert isinstance(form, TensorForm)
    assert (form.dtype, form.shape, form.free_rank) == ("float32", ("size_2", "size_1"), True)


@pytest.mark.parametrize(
    "annotation",
    ["Optional[Tensor]", "typing.Optional[torch.Tensor]", "Tensor | None", "Union[Tensor, None]", "None | Tensor"],
)
def test_an_optional_tensor_is_a_tensor_or_none(annotation: str) -> None:
    forms = annotation_forms(annotation, "x")
    assert dtypes(forms) == ["float32"]
    assert NONE in forms


def test_names_count_a_little() -> None:
    assert dtypes(annotation_forms("Tensor", "attention_mask")) == ["bool", "float32"]
    assert dtypes(annotation_forms("Tensor", "input_ids")) == ["int64", "float32"]
    assert dtypes(annotation_forms("Tensor", "width")) == ["float32"]
    assert dtypes(annotation_forms("LongTensor", "x")) == ["int64"]
    assert dtypes(guessed_tensor("labels")) == ["int64", "float32"]


def test_integer_tensors_could_be_indices() -> None:
    (form,) = annotation_forms("LongTensor", "x")
    assert isinstance(form, TensorForm)
    assert (form.low, form.high) == (0, 1)


@pytest.mark.parametrize(
    ("annotation", "some"),
    [("int", {0, 1, -1}), ("bool", {True, False}), ("Literal['sum', 'mean']", {"sum", "mean"}), ("str", {"a"})],
)
def test_scalars(annotation: str, some: set[object]) -> None:
    (form,) = annotation_forms(annotation, "n")
    assert isinstance(form, NumberForm)
    assert some <= set(form.values)


def test_floats_come_with_the_special_ones() -> None:
    (form,) = annotation_forms("float", "n")
    assert isinstance(form, NumberForm)
    assert {"0.0", "-0.0", "nan", "inf"} <= {repr(value) for value in form.values}
    assert form.values[0] == 0.5


def test_containers_hold_some_one_and_no_items() -> None:
    for annotation, kind in (("list[Tensor]", "list"), ("tuple[Tensor, ...]", "tuple"), ("dict[str, Tensor]", "dict")):
        forms = annotation_forms(annotation, "x")
        assert [(form.kind, len(form.items)) for form in forms if isinstance(form, ContainerForm)] == [
            (kind, 2),
            (kind, 1),
            (kind, 0),
        ]


def test_a_tuple_of_different_items() -> None:
    (form,) = annotation_forms("tuple[Tensor, int]", "x")
    assert isinstance(form, ContainerForm)
    assert [type(item) for _, item in form.items] == [TensorForm, NumberForm]


def test_torch_values() -> None:
    assert annotation_forms("torch.dtype", "x") == (Expression("torch.float32"),)


@pytest.mark.parametrize("annotation", ["Config", "", "int[", "Callable[[int], int]", "list[Config]"])
def test_what_tells_nothing(annotation: str) -> None:
    assert annotation_forms(annotation, "x") == ()


def test_default_values_come_first_and_others_of_their_type_follow() -> None:
    (form,) = default_forms("3")
    assert isinstance(form, NumberForm)
    assert form.values[0] == 3
    assert {0, 1, -1} <= set(form.values)
    assert default_forms("'mean'") == (NumberForm(("mean",)),)
    assert default_forms("True") == (NumberForm((True, False)),)
    assert default_forms("None") == (NONE,)
    (nan,) = default_forms("nan")
    assert isinstance(nan, NumberForm)
    assert isinstance(nan.values[0], float)
    assert math.isnan(nan.values[0])
    (pair,) = default_forms("(1, 2)")
    assert isinstance(pair, ContainerForm)
    assert default_forms("<object>") == ()


def test_the_default_joins_the_annotation() -> None:
    parameter = Parameter("mask", "KEYWORD_ONLY", "Tensor | None", required=False, default="None")
    forms = forms_of(parameter)
    assert forms[0] == NONE
    assert dtypes(forms) == ["bool", "float32"]
    mode = Parameter("mode", "KEYWORD_ONLY", "Literal['a', 'b']", required=False, default="'b'")
    assert forms_of(mode) == (NumberForm(("b", "a")),)
