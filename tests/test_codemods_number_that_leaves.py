"""Numbers that leave: what may stand around them, and what the compiled part is called."""

from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.number_that_leaves import RULE
from gbfix.engine.model import Finding, Safety
from gbfix.engine.passes import fix_text

STEP = """import torch


@torch.compile
def step(model, optimizer, x: torch.Tensor):
    loss = (torch.stack([model(x), x]) - x).square().mean()
    value = loss.item()
    loss.backward()
    optimizer.step()
    model.eval()
    return value
"""


def find(text: str) -> list[Finding]:
    return list(RULE.find(load([parse("program.py", text)]).view("program.py")))


def test_a_number_is_read_behind_what_follows_out_of_a_copy() -> None:
    after = fix_text(STEP, find).after
    assert "    value = loss.detach().clone()\n    loss.backward()\n" in after
    assert after.endswith("    value = _step_graph(model, optimizer, x)\n    value = value.item()\n    return value\n")
    assert fix_text(after, find).after == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("    model.eval()\n", "    names = locals()\n", id="asks for its names"),
        pytest.param("    model.eval()\n", "    step(model, optimizer, x)\n", id="calls itself"),
        pytest.param("    model.eval()\n", "    if torch.compiler.is_compiling():\n        x = x + 1\n", id="asks"),
        pytest.param("    model.eval()\n", "    print(value)\n    x.add_(1.0)\n", id="used before the end"),
        pytest.param("    model.eval()\n", "    later = lambda: value\n", id="kept by a function"),
        pytest.param("@torch.compile", "@torch.compile(fullgraph=True)", id="captured whole"),
        pytest.param("import torch\n", "import torch\nfrom decorators import timed as step\n", id="a second binding"),
    ],
)
def test_what_is_left_alone(old: str, new: str) -> None:
    text = STEP.replace(old, new)
    if "timed" in text:
        text = text.replace("@torch.compile", "@step\n@torch.compile")
    assert find(text) == []


def test_the_compiled_part_has_a_name_of_its_own() -> None:
    text = STEP + "\n\nclass Other:\n    def _step_graph(self):\n        return 1\n"
    assert "def _step_graph_2(" in fix_text(text, find).after


def test_what_has_several_elements_is_assumed_to_have_one() -> None:
    (found,) = find(STEP.replace(".square().mean()", ".square()"))
    assert found.safety is Safety.UNSAFE
