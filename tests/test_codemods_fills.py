from __future__ import annotations

import ast

import pytest

from gbfix.analysis.names import Names
from gbfix.analysis.source import parse
from gbfix.codemods._fills import guards_its_own_mask


def guards(test: str, body: str) -> bool:
    source = parse("program.py", f"import torch\ndef f(x, mask, other):\n    if {test}:\n        {body}\n")
    branch = next(node for node in ast.walk(source.tree) if isinstance(node, ast.If))
    return guards_its_own_mask(Names(source), branch)


@pytest.mark.parametrize(
    "test",
    [
        "mask.any()",
        "torch.any(mask)",
        "mask.any().item()",
        "bool(mask.any())",
        "mask.sum()",
        "mask.sum() > 0",
        "mask.sum().item() != 0",
        "torch.count_nonzero(mask) > 0",
    ],
)
def test_questions_whether_a_mask_is_true_anywhere(test: str) -> None:
    assert guards(test, "x = x.masked_fill(mask, 0.0)")


@pytest.mark.parametrize(
    "body",
    [
        "x = x.masked_fill(mask, 0.0)",
        "x = x.masked_fill(mask, value=0.0)",
        "x = torch.masked_fill(x, mask, 0.0)",
        "x = torch.where(mask, 0.0, x)",
    ],
)
def test_fills_where_a_mask_is_true(body: str) -> None:
    assert guards("mask.any()", body)


@pytest.mark.parametrize(
    "test",
    [
        "other.any()",
        "(~mask).any()",
        "mask.all()",
        "mask.any(0)",
        "mask.any() > 0",
        "mask.sum() > 1",
        "mask.sum() >= 0",
        "mask.sum() < 0",
        "0 < mask.sum() < 9",
        "not mask.any()",
        "mask.any",
    ],
)
def test_other_questions(test: str) -> None:
    assert not guards(test, "x = x.masked_fill(mask, 0.0)")


@pytest.mark.parametrize(
    "body",
    [
        "x = x.masked_fill(other, 0.0)",
        "x = other.masked_fill(mask, 0.0)",
        "other = x.masked_fill(mask, 0.0)",
        "x = x.masked_fill_(mask, 0.0)",
        "x.masked_fill_(mask, 0.0)",
        "x = torch.where(mask, x, 0.0)",
        "x = other = x.masked_fill(mask, 0.0)",
        "x = x.masked_fill(mask, 0.0); other = 1",
        "x = x.masked_fill(mask, 0.0)\n    else:\n        x = other",
    ],
)
def test_other_bodies(body: str) -> None:
    assert not guards("mask.any()", body)


def test_a_bool_of_the_file_itself_is_another_function() -> None:
    source = parse(
        "program.py", "bool = print\ndef f(x, mask):\n    if bool(mask.any()):\n        x = x.masked_fill(mask, 0)\n"
    )
    branch = next(node for node in ast.walk(source.tree) if isinstance(node, ast.If))
    assert not guards_its_own_mask(Names(source), branch)
