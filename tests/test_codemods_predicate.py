from __future__ import annotations

import ast

import pytest
import torch
from facts import Program

from gbfix.analysis.flow import reads_tensor
from gbfix.codemods._predicate import Predicate, PredicateBuilder
from gbfix.codemods._refuse import RefusedError

FLOAT, INTEGER, UNKNOWN = "x.float().sum()", "x.argmax()", "x.max()"
"""Tensors of one element whose dtype is floating, integer and not known."""


def predicate(test: str, parameters: str = "x: torch.Tensor, y: torch.Tensor", before: str = "pass") -> Predicate:
    program = Program(f"def f({parameters}):\n    {before}\n    if {test}:  # here\n        pass\n")
    statement = program.statement
    assert isinstance(statement, ast.If)
    return PredicateBuilder(program.flow, program.state, "torch", statement).build(statement.test)


def refusal(test: str, parameters: str = "x: torch.Tensor, y: torch.Tensor", before: str = "pass") -> str:
    with pytest.raises(RefusedError) as raised:
        predicate(test, parameters, before)
    return raised.value.obligation.claim


@pytest.mark.parametrize(
    ("constant", "floating", "integer", "unknown"),
    [
        ("0", "plain", "plain", "plain"),
        ("127", "plain", "plain", "plain"),
        # uint8 holds it but int8 does not; bfloat16 holds it exactly.
        ("128", "plain", "long", "double"),
        ("-1", "plain", "long", "double"),
        ("257", "double", "long", "double"),
        ("300", "plain", "long", "double"),
        ("0.5", "plain", "plain", "plain"),
        ("0.1", "double", "double", "double"),
        ("1e-6", "double", "double", "double"),
        (str(2**53 - 1), "double", "long", "double"),
        (str(2**53), "double", "long", "refused"),
        (str(2**53 + 1), "refused", "long", "refused"),
        (str(2**63), "refused", "refused", "refused"),
    ],
)
def test_what_was_read_is_compared_in_a_dtype_that_holds_the_constant(
    constant: str, floating: str, integer: str, unknown: str
) -> None:
    for tensor, expected in ((FLOAT, floating), (INTEGER, integer), (UNKNOWN, unknown)):
        test = f"{tensor}.item() > {constant}"
        if expected == "refused":
            assert refusal(test) == "the comparison is exact"
        else:
            cast = "" if expected == "plain" else f".{expected}()"
            assert predicate(test).source == f"{tensor}{cast} > {constant}"


@pytest.mark.parametrize("constant", ["0", "0.5", "127", "0.1", "1e-6", "300", str(2**53 - 1), "-1"])
@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int8]
)
def test_the_tensor_form_says_what_python_said_next_to_the_constant(constant: str, dtype: torch.dtype) -> None:
    near = torch.tensor(float(constant), dtype=torch.float64)
    if dtype.is_floating_point:
        value = near.to(dtype)
        around = [value, torch.nextafter(value, torch.full_like(value, torch.inf)), -value]
    else:
        value = near.to(torch.int64).clamp(torch.iinfo(dtype).min, torch.iinfo(dtype).max).to(dtype)
        around = [value, value - (value > 0).to(dtype), value + 1 if int(value) < torch.iinfo(dtype).max else value]
    for x in around:
        for operator in ("<", "<=", "==", "!=", ">=", ">"):
            test = f"x.max().item() {operator} {constant}"
            source = predicate(test, "x: torch.Tensor").source
            names = {"x": x, "torch": torch}
            assert bool(eval(source, names)) is eval(test, names), (test, source, x)


@pytest.mark.parametrize(
    ("test", "source"),
    [
        ("x.sum()", "x.sum() != 0"),
        ("(x > 0).any()", "(x > 0).any()"),
        ("x.sum() > y.sum()", "x.sum() > y.sum()"),
        ("0 < x.sum() < 5", "torch.logical_and(0 < x.sum(), x.sum() < 5)"),
        ("x.any() and y.any() and x.sum() > 0", None),
        ("x.isnan().any() or y.isnan().any()", "torch.logical_or(x.isnan().any(), y.isnan().any())"),
        ("x.argmax().item() > x.argmin().item()", "x.argmax().long() > x.argmin().long()"),
        ("x.argmax() in (1, 2)", "torch.logical_or(x.argmax() == 1, x.argmax() == 2)"),
        ("x.argmax() not in [1]", "torch.logical_not(x.argmax() == 1)"),
        ("bool(x.isnan().any())", "x.isnan().any()"),
        ("x.isnan()", "x.isnan().reshape(())"),
        ("x > 0", "(x > 0).reshape(())"),
    ],
)
def test_the_tensor_form_of_a_test(test: str, source: str | None) -> None:
    found = predicate(test)
    assert not found.inverted
    if source is not None:
        assert found.source == source
    assert isinstance(ast.parse(found.source, mode="eval").body, ast.expr)


def test_not_changes_the_sides_and_flips_no_comparison() -> None:
    once, twice = predicate("not x.sum() > 0"), predicate("not not x.sum() > 0")
    assert (once.source, once.inverted) == ("x.sum() > 0", True)
    assert (twice.source, twice.inverted) == ("x.sum() > 0", False)
    inside = predicate("x.isnan().any() and not y.sum() > 0")
    assert inside.source == "torch.logical_and(x.isnan().any(), torch.logical_not(y.sum() > 0))"


def test_a_name_read_out_of_a_tensor_becomes_the_tensor() -> None:
    found = predicate("s > 0", before="s = x.sum().item()")
    assert found.source == "s > 0"
    assert [edit.source for edit in found.edits] == ["s = x.sum()"]


def test_a_walrus_is_assigned_before() -> None:
    found = predicate("(s := x.sum()) > 0")
    assert (found.hoisted, found.source) == (["s = x.sum()"], "s > 0")


def test_a_value_that_moves_into_a_statement_takes_its_lines_along() -> None:
    expected = "s = (x.sum()\n+ 1.0)"
    assert predicate("(s := x.sum()\n    + 1.0) > 0").hoisted == [expected]
    assert predicate("(s := x.sum()\n    + 1.0)").hoisted == [expected]
    read = predicate("s > 0", before="s = float(x.sum()\n    + 1.0)")
    assert [edit.source for edit in read.edits] == [expected]


@pytest.mark.parametrize(
    ("test", "claim"),
    [
        ("x.sum() > 0 and n", "the tensor part of the condition stands apart from the Python part"),
        ("x.any() and (s := y.any())", "evaluating the condition does nothing else"),
        ("x.sum() is y", "the condition is a comparison of values"),
        ("x.sum().item() + 1 > 0", "the condition only compares what it reads out of tensors"),
        ("int(x.float().sum()) > 0", "int() of the tensor keeps its value"),
        ("x.argmax().item() > x.float().sum().item()", "the comparison is exact"),
        ("x.sum() in n", "membership is tested in constants"),
        ("x.add_(1).sum() > 0", "evaluating the condition does nothing else"),
    ],
)
def test_refused_tests(test: str, claim: str) -> None:
    assert refusal(test, "x: torch.Tensor, y: torch.Tensor, n: int") == claim


@pytest.mark.parametrize(
    ("test", "reads"),
    [
        ("x.sum() > 0", True),
        ("n and x.any()", True),
        ("not x.any()", True),
        ("x.sum().item() > 0", True),
        ("x.shape[0] > 0", False),
        ("x.dtype == torch.float16", False),
        ("x is None", False),
        ("n > 0", False),
    ],
)
def test_which_tests_read_a_tensor(test: str, reads: bool) -> None:
    program = Program(f"def f(x: torch.Tensor, n: int):\n    return {test}\n")
    value = program.statement.value
    assert isinstance(value, ast.expr)
    assert reads_tensor(program.flow, program.state, value) is reads
