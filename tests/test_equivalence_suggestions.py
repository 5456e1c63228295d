"""What an exception suggests to call instead, and inputs that are turned to what the original takes by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.equivalence.annotations import guessed_tensor
from gbfix.equivalence.check import check
from gbfix.equivalence.forms import CallForm, ContainerForm, TensorForm, shape_of, tensors_of
from gbfix.equivalence.model import Job, Parameter, Raised, Settings, Setup, Status, Target, Verdict
from gbfix.equivalence.signatures import signature_of
from gbfix.equivalence.suggestions import named_numbers, suggested_by

HEAD = "import torch\nfrom torch import Tensor, nn\n\n\n"
CHOICE = "h = h * 2 if h.sum() > 0 else h - 1"
WRONG = "h = torch.where(h.sum() >= 0, h * 2, h - 2)"


def call_of(*annotated: tuple[str, str]) -> CallForm:
    parameters = tuple(Parameter(name, "POSITIONAL_OR_KEYWORD", annotation) for name, annotation in annotated)
    return signature_of(Setup(parameters), (), Settings()).calls[0]


def shapes(calls: tuple[CallForm, ...]) -> list[list[tuple[int, ...]]]:
    return [[shape_of(form, call) for _, form in tensors_of(call)] for call in calls]


X = call_of(("x", "torch.Tensor"))


def test_numbers_of_the_text_are_sizes_those_that_are_new_first() -> None:
    raised = Raised("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 16x5)")
    assert named_numbers(X, raised) == (16, 5, 2, 3)
    found = shapes(suggested_by(X, raised))
    assert found[0] == [(2, 16)]
    assert [(5, 3)] in found
    assert found.index([(2, 5)]) < found.index([(2, 2)])


def test_other_ranks_of_all_tensors_and_of_each() -> None:
    found = shapes(suggested_by(call_of(("x", "Tensor"), ("y", "Tensor")), Raised("ValueError", "no")))
    assert [(4, 2, 3), (4, 2, 3)] in found
    assert [(4, 2, 3), (2, 3)] in found
    assert [(2, 3), (3,)] in found
    assert [(2, 3), (2,)] in found


def test_missing_keys_take_the_place_of_those_made_up() -> None:
    call = call_of(("batch", "dict[str, Tensor]"))
    first = suggested_by(call, Raised("KeyError", "'input_ids'"))[0]
    assert first.arguments == (("batch", ContainerForm("dict", (("input_ids", guessed_tensor("input_ids")[0]),))),)
    second = suggested_by(first, Raised("KeyError", "'mask'"))[0].arguments[0][1]
    assert isinstance(second, ContainerForm)
    assert [key for key, _ in second.items] == ["input_ids", "mask"]


def test_what_is_known_of_a_tensor_stays() -> None:
    known = CallForm((("x", TensorForm("float32", (2, "n0"))),), (("n0", 3),))
    assert not suggested_by(known, Raised("RuntimeError", "expected 7 features, got 3"))


def checked(folder: Path, original: str, rewritten: str, target: str) -> Verdict:
    file = folder / "program.py"
    file.write_text(original)
    job = Job(
        Target(f"program:{target}", str(file), "program", str(folder), target),
        {str(file): HEAD + original},
        {str(file): HEAD + rewritten},
        settings=Settings(examples=30, compiled_examples=1),
    )
    return check(job)


NET = (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.first = {first}\n"
    "        self.last = {last}\n\n"
    "    def forward(self, x: Tensor) -> Tensor:\n"
    "        h = {call}\n"
    "        {choice}\n"
    "        return h\n"
)
NETS = {
    "norm and three dimensions": (
        "nn.LayerNorm(12)",
        "nn.Linear(12, 2)",
        "self.last(self.first(x).transpose(1, 2).mT)",
    ),
    "channels": ("nn.Conv2d(3, 5, 3, padding=1)", "nn.BatchNorm2d(5)", "self.last(self.first(x))"),
}


@pytest.mark.parametrize("net", NETS)
def test_sizes_of_a_module_that_only_annotations_tell_of(net: str, tmp_path: Path) -> None:
    first, last, call = NETS[net]
    texts = [NET.format(first=first, last=last, call=call, choice=choice) for choice in (CHOICE, WRONG)]
    verdict = checked(tmp_path, texts[0], texts[1], "Net")
    assert verdict.status is Status.DIFFERENT, verdict.reason


def test_keys_of_a_dict_that_only_annotations_tell_of(tmp_path: Path) -> None:
    text = 'def f(batch: dict[str, Tensor]) -> Tensor:\n    h = batch["x"] @ batch["y"].T\n    {choice}\n    return h\n'
    verdict = checked(tmp_path, text.format(choice=CHOICE), text.format(choice=WRONG), "f")
    assert verdict.status is Status.DIFFERENT, verdict.reason
