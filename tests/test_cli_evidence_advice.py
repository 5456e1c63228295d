from __future__ import annotations

from pathlib import Path

import pytest
from evidence_sample import branch, call_of_builtin, report

from gbfix.cli.evidence_advice import Remedy
from gbfix.evidence.model import Break, Entry, Place

LIBRARY = """import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            y = x * 2.0
        else:
            y = x + 1.0
        return y
"""


def _remedy(root: Path, site: Break, **changes: object) -> Remedy:
    (row,) = report(root, breaks=(site,), **changes).breaks
    return row.remedy


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_safe_fix(tmp_path: Path) -> None:
    remedy = _remedy(tmp_path, branch("safe.py"))
    assert (remedy.action, remedy.rule, remedy.commands) == ("safe", "GBF101", ("gbfix apply safe.py",))
    assert remedy.details == ()


def test_an_unsafe_fix_says_what_it_assumes(tmp_path: Path) -> None:
    remedy = _remedy(tmp_path, branch("unsafe.py"))
    assert (remedy.action, remedy.commands) == ("unsafe", ("gbfix apply --unsafe unsafe.py",))
    assert remedy.details
    assert all(detail.startswith("assumed: ") for detail in remedy.details)


def test_a_refusal_says_why(tmp_path: Path) -> None:
    remedy = _remedy(tmp_path, branch("refused.py"))
    assert (remedy.action, remedy.commands) == ("refused", ())
    assert any("random" in detail and "(line 8)" in detail for detail in remedy.details)


def test_without_a_rule_the_registry_advises(tmp_path: Path) -> None:
    remedy = _remedy(tmp_path, call_of_builtin())
    assert (remedy.action, remedy.rule) == ("advice", "")
    assert remedy.ways_out
    assert remedy.commands == ("gbfix explain GB0059",)


def test_an_unknown_kind_is_told_in_its_own_words(tmp_path: Path) -> None:
    site = Break(Place("safe.py", 11), kind="Something new", explanation="It cannot do this.\nMore.")
    remedy = _remedy(tmp_path, site)
    assert (remedy.action, remedy.details) == ("advice", ("It cannot do this.",))


def test_a_break_in_a_library_is_fixed_in_an_overlay(tmp_path: Path) -> None:
    folder = tmp_path / "venv/lib/python3.11/site-packages/gates"
    folder.mkdir(parents=True)
    (folder / "gate.py").write_text(LIBRARY, encoding="utf-8")
    file = "venv/lib/python3.11/site-packages/gates/gate.py"
    remedy = _remedy(tmp_path, Break(Place(file, 7, "forward"), gb="GB0170", project=Place("safe.py", 6)))
    assert remedy.action == "safe"
    assert remedy.commands == (f"gbfix apply --overlay --assume-compiled {file}", "gbfix run -- CMD")


def test_a_statement_below_a_branch_is_not_the_branch(tmp_path: Path) -> None:
    site = Break(Place("refused.py", 8, "f"), gb="GB0059")
    assert _remedy(tmp_path, site).action == "advice"


def test_a_file_that_changed_or_is_not_here_is_said(tmp_path: Path) -> None:
    changed = _remedy(tmp_path, branch("safe.py"), hashes={"safe.py": "0" * 64})
    assert changed.action == "advice"
    assert "safe.py changed since the program ran" in changed.text
    absent = _remedy(tmp_path, branch("gone.py"))
    assert "gone.py is not on this machine" in absent.text


def test_a_break_that_pytorch_itself_asks_for_is_not_laid_to_the_program(tmp_path: Path) -> None:
    inside = Place("/venv/lib/python3.11/site-packages/torch/optim/optimizer.py", 79, "_use_grad")
    asked = Break(Place("safe.py", 11), gb="GB0025", stack=(Place("safe.py", 11), inside))
    remedy = _remedy(tmp_path, asked)
    assert "PyTorch itself" in remedy.text
    assert remedy.details[0].startswith("torch/optim/optimizer.py:79 calls")
    own = _remedy(tmp_path, Break(Place("safe.py", 11), gb="GB0025", stack=(Place("safe.py", 11),)))
    assert "The program asks for this break itself" in own.details[0]


def test_what_an_explanation_refers_to_is_quoted(tmp_path: Path) -> None:
    site = Break(Place("safe.py", 11), gb="GB0008", explanation="`Optimizer.zero_grad` should not be traced.\nMore.")
    assert _remedy(tmp_path, site).details[1] == "PyTorch says: `Optimizer.zero_grad` should not be traced."
    assert len(_remedy(tmp_path, call_of_builtin()).details) == 1


def test_a_file_that_cannot_be_read_is_a_problem_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n", encoding="utf-8")
    made = report(tmp_path, breaks=(branch("safe.py"),), entries=(Entry("f", defined=Place("broken.py", 1)),))
    assert any("broken.py:1" in problem for problem in made.problems)
    assert made.breaks[0].remedy.action == "safe"
