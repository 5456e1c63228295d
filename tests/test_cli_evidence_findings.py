from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gbfix.analysis.preferences import Messages, Preferences
from gbfix.cli.evidence_findings import Findings, find
from gbfix.codemods import all_rules
from gbfix.evidence.model import Break, Entry, Evidence, Place, Recompile

PROGRAM = """import torch


def helper(x: torch.Tensor) -> torch.Tensor:
    return x * 2.0 if x.sum() > 0 else x + 1.0


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if (
        x.sum() > 0
        and y.sum() > 0
    ):
        z = x * 2.0
    elif x.mean() > 1:
        z = x + len(y.shape)
    else:
        z = helper(x)
    return z
"""


def _found(root: Path, *places: tuple[str, int], project: tuple[str, int] | None = None) -> tuple[Findings, Break]:
    called = Place(*project) if project else None
    sites = tuple(Break(Place(file, line), project=called) for file, line in places)
    return find(Evidence(str(root), breaks=sites), all_rules()), sites[0]


def _line(root: Path, line: int) -> int | None:
    findings, site = _found(root, ("program.py", line))
    found = findings.of(site)
    return found and found[1].span.line


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def test_a_condition_over_several_lines_is_one_site(root: Path) -> None:
    assert [_line(root, line) for line in (11, 12, 13)] == [11, 11, 11]


def test_the_way_of_messages_that_was_chosen(root: Path) -> None:
    (root / "program.py").write_text("import torch\n\n\n@torch.compile\ndef f(x):\n    print(1)\n    return x + 1\n")
    site = Break(Place("program.py", 6))
    chosen = find(Evidence(str(root), breaks=(site,)), all_rules(), preferences=Preferences(Messages.DROP)).of(site)
    assert chosen is not None
    assert chosen[1].fix is not None
    assert "is_compiling" in chosen[1].fix.replacements[0].source


def test_a_statement_below_the_branch_does_not(root: Path) -> None:
    assert _line(root, 17) is None


def test_a_function_that_a_compiled_one_calls(root: Path) -> None:
    assert _line(root, 5) == 5


def test_a_line_without_a_finding(root: Path) -> None:
    assert _line(root, 20) is None


def test_callers_in_other_files_make_a_function_compiled(root: Path) -> None:
    text = PROGRAM.partition("@torch.compile")[0]
    (root / "helpers.py").write_text(text, encoding="utf-8")
    caller = "import torch\nfrom helpers import helper\n\n\n@torch.compile\ndef g(x):\n    return helper(x)\n"
    (root / "caller.py").write_text(caller, encoding="utf-8")
    alone = find(Evidence(str(root), breaks=(Break(Place("helpers.py", 5)),)), all_rules())
    assert alone.of(Break(Place("helpers.py", 5))) is None
    site = Break(Place("helpers.py", 5), stack=(Place("caller.py", 7), Place("helpers.py", 5)))
    found = find(Evidence(str(root), breaks=(site,)), all_rules()).of(site)
    assert found is not None
    assert found[0].file == "helpers.py"


def test_the_project_line_is_asked_where_the_library_line_has_no_finding(root: Path) -> None:
    findings, site = _found(root, ("/elsewhere/lib.py", 3), project=("program.py", 5))
    found = findings.of(site)
    assert found is not None
    assert found[0].file == "program.py"
    assert findings.absent == {"/elsewhere/lib.py"}


def test_a_fix_at_the_call_of_a_reporting_function_comes_before_a_refusal_in_it(tmp_path: Path) -> None:
    text = """import torch


def report(x: torch.Tensor) -> None:
    print("shape", tuple(x.shape), flush=True)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    report(y)
    return y + 1.0
"""
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    stack = tuple(Place("program.py", line) for line in (15, 11, 5))
    site = Break(stack[-1], stack=stack)
    found = find(Evidence(str(tmp_path), breaks=(site,)), all_rules()).of(site)
    assert found is not None
    assert (found[0].line, found[1].code) == (11, "GBF312")


def test_a_line_that_a_fix_edits(tmp_path: Path) -> None:
    text = """import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    picked = x.long()[x > 1]
    return picked.sum()
"""
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    findings, site = _found(tmp_path, ("program.py", 6))
    found = findings.of(site)
    assert found is not None
    assert found[1].code == "GBF501"


def test_the_fix_for_a_value_that_is_compiled_again(tmp_path: Path) -> None:
    text = """import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x + self.steps


net = torch.compile(Net())
"""
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    place = Place("program.py", 9, "forward")
    row = Recompile(place, "self.steps == 0", "value", "self.steps", ("0", "1"))
    findings = find(Evidence(str(tmp_path), entries=(Entry("Net", defined=place),), recompiles=(row,)), all_rules())
    found = findings.of_recompile(row)
    assert found is not None
    assert (found[0].line, found[1].code) == (10, "GBF411")
    assert findings.of_recompile(replace(row, source_name="self.step")) is None


def test_pytorch_and_the_standard_library_are_not_read(root: Path) -> None:
    findings, _ = _found(root, ("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", 3))
    assert findings.absent == frozenset()
