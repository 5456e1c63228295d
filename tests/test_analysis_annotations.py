from __future__ import annotations

import pytest
from facts import Program

from gbfix.analysis.values import Kind, Value


def parameter(annotation: str, before: str = "") -> Value:
    return Program(f"{before}\ndef f(p: {annotation}): pass\n").held("p")


@pytest.mark.parametrize(
    "annotation",
    ["torch.Tensor", "torch.FloatTensor", "'torch.Tensor'", "nn.Parameter", "torch.Tensor | torch.BoolTensor"],
)
def test_tensors(annotation: str) -> None:
    value = parameter(annotation)
    assert value.kind is Kind.TENSOR
    assert not value.assumed


def test_a_name_that_is_imported_as_a_tensor_is_one_also_in_a_string() -> None:
    assert parameter("T", "from torch import Tensor as T").kind is Kind.TENSOR
    assert parameter("'T'", "from torch import Tensor as T").kind is Kind.TENSOR


@pytest.mark.parametrize("annotation", ["Tensor", "'Tensor'", "other.Tensor", "torch.Size", "'not python'", "Any"])
def test_a_name_that_looks_like_one_proves_nothing(annotation: str) -> None:
    assert parameter(annotation, "from other import Tensor\nimport other").kind is Kind.MAYBE


@pytest.mark.parametrize(
    "annotation", ["torch.Tensor | None", "Optional[torch.Tensor]", "typing.Union[None, torch.Tensor]"]
)
def test_an_optional_tensor_is_assumed_not_to_be_none(annotation: str) -> None:
    value = parameter(annotation)
    assert value.kind is Kind.TENSOR
    assert [assumption.claim for assumption in value.assumed] == ["p is not None"]


def test_a_default_of_none_makes_a_tensor_optional() -> None:
    positional = Program("def f(a, p: torch.Tensor = None): pass").held("p")
    keyword = Program("def f(*, a=None, p: torch.Tensor): pass").held("p")
    assert [assumption.claim for assumption in positional.assumed] == ["p is not None"]
    assert not keyword.assumed


@pytest.mark.parametrize(
    ("annotation", "number"),
    [("int", "int at most"), ("float", "float at most"), ("bool", "bool"), ("int | float", None)],
)
def test_numbers_only_know_their_upper_end(annotation: str, number: str | None) -> None:
    value = parameter(annotation)
    assert (value.kind, value.number) == (Kind.NUMBER, number)


@pytest.mark.parametrize("annotation", ["str", "list[torch.Tensor]", "None", "dict | None"])
def test_what_is_certainly_no_tensor(annotation: str) -> None:
    assert parameter(annotation).kind is Kind.OTHER


def test_a_tensor_or_a_number_may_be_either() -> None:
    assert parameter("torch.Tensor | float").kind is Kind.MAYBE
