"""Programs made to mislead an observed run: what it shows of a line is not what every call does.

`hostile_evidence/<what misleads>/case.py` holds functions behind one `entry`. The run sees all the inputs of
`inputs.py`, so a fix that rests on it and needs no `--unsafe` must leave everything as it was for each of them. What is
called `fixed` does what the run shows and must be fixed: where the run shows nothing, the rest would prove nothing.
"""

from __future__ import annotations

import ast
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from cli_project import Project
from programs import load_inputs, run

from gbfix.evidence.store import load_evidence

FOLDER = Path(__file__).parent / "hostile_evidence"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/case.py"))

DRIVER = """import case
import inputs

for arguments in inputs.inputs():
    try:
        getattr(case, inputs.ENTRY)(*arguments)
    except Exception as error:
        print(type(error).__name__)
"""
"""Goes on after an error: to raise is a result like any other."""


@pytest.fixture(autouse=True)
def _every_warning() -> Iterator[None]:
    """PyTorch gives some warnings once per process, and then only the original would show them."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("name", NAMES)
def test_fixes_that_rest_on_a_run_change_nothing(name: str, tmp_path: Path) -> None:
    project = Project(tmp_path)
    for file in ("case.py", "inputs.py"):
        shutil.copy(FOLDER / name / file, tmp_path)
    project.write("driver.py", DRIVER)
    traced = project.gbfix("trace", "--", sys.executable, "driver.py")
    assert traced.code == 0, traced.err
    assert load_evidence(tmp_path / ".gbfix" / "evidence.json").problems == ()
    project.gbfix("apply", "case.py")
    before, after = FOLDER / name / "case.py", tmp_path / "case.py"
    old, new = definitions(before), definitions(after)
    fixed = {part for part in old if part.lower().startswith("fixed")}
    assert fixed
    assert fixed <= {part for part in old if old[part] != new[part]}
    inputs = load_inputs(FOLDER / name)
    for compiled in (False, True):
        observations = [run(path, inputs, compiled=compiled).observations for path in (before, after)]
        calls = zip(inputs.make(), *observations, strict=True)
        assert {arguments[0] for arguments, first, second in calls if first != second} == set()


def definitions(path: Path) -> dict[str, str]:
    """The functions and classes at the top of a program, as text without layout."""
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: ast.dump(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
