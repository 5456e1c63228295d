from __future__ import annotations

from pathlib import Path

from gbfix.equivalence.check import check
from gbfix.equivalence.example import Constant, Drawn, Example, Listed, TensorRecipe
from gbfix.equivalence.model import Job, Settings, Status, Target
from gbfix.equivalence.named_numbers import around_numbers

FIRST = Example((("x", TensorRecipe("float32", (2, 2), Drawn(0))), ("n", Constant(3))))


def elements(example: Example) -> tuple[object, ...]:
    recipe = example.arguments[0][1]
    assert isinstance(recipe, TensorRecipe)
    assert isinstance(recipe.values, Listed)
    return recipe.values.numbers


def test_numbers_are_elements_and_sums() -> None:
    found = [elements(example) for example in around_numbers(FIRST, FIRST, [100])]
    assert (100.0,) * 4 in found
    assert (101.0, 0.0, 0.0, 0.0) in found
    assert (99.0,) * 4 in found
    assert all(example.arguments[1] == ("n", Constant(3)) for example in around_numbers(FIRST, FIRST, [-2.5]))
    assert (-2.5, 0.0, 0.0, 0.0) in [elements(example) for example in around_numbers(FIRST, FIRST, [-2.5])]


def test_other_arguments_stay() -> None:
    masks = Example((("x", TensorRecipe("bool", (2,), Drawn(0))), ("y", TensorRecipe("uint8", (2,), Drawn(0)))))
    assert set(around_numbers(masks, masks, [77])) == {masks}


def test_one_tensor_alone_of_the_fullest_call() -> None:
    both = Example((*FIRST.arguments, ("labels", TensorRecipe("int64", (2,), Drawn(0)))))
    found = [dict(example.arguments) for example in around_numbers(FIRST, both, [-100])]
    labels = TensorRecipe("int64", (2,), Listed((-100, -100)))
    assert {**dict(both.arguments), "labels": labels} in found


def test_side_at_one_number_is_reached(tmp_path: Path) -> None:
    head = "import torch\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n"
    original = head + "    if x.sum() == 16777217 - 1:\n        return x * 2.0\n    return x * 3.0\n"
    rewritten = head + "    return torch.where(x.sum() == 16777216, x * 3.0, x * 3.0)\n"
    file = tmp_path / "program.py"
    file.write_text(original)
    target = Target("program:f", str(file), "program", str(tmp_path), "f")
    verdict = check(Job(target, {str(file): original}, {str(file): rewritten}, settings=Settings(examples=30)))
    assert verdict.status is Status.DIFFERENT, verdict.reason
