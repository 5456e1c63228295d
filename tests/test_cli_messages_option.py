from __future__ import annotations

from pathlib import Path

import pytest
from cli_project import Project

PROGRAM = "import torch\n\n\n@torch.compile\ndef f(x):\n    y = x + 1\n    print('y')\n    return y * 2\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "program.py").write_text(PROGRAM)
    return Project(tmp_path)


def test_the_option_comes_before_the_configuration(project: Project) -> None:
    assert "_higher_order_ops.print" in project.gbfix("apply", "--dry-run", "program.py").out
    assert "_higher_order_ops.print" not in project.gbfix("apply", "--dry-run", "--messages", "drop", "program.py").out
    (project.root / "pyproject.toml").write_text("[tool.gbfix]\nmessages = 'drop'\n")
    assert "_higher_order_ops.print" not in project.gbfix("apply", "--dry-run", "program.py").out
    chosen = project.gbfix("apply", "--dry-run", "--messages", "in-graph", "program.py")
    assert "_higher_order_ops.print" in chosen.out


def test_another_value_is_an_error_of_one_line(project: Project) -> None:
    assert project.gbfix("scan", "--messages", "loud", "program.py").code == 2
    (project.root / "pyproject.toml").write_text("[tool.gbfix]\nmessages = 'loud'\n")
    done = project.gbfix("scan", "program.py")
    assert done.code == 2
    assert "tool.gbfix.messages must be one of auto, in-graph, outside, boundary, drop" in done.err
    assert done.err.count("\n") == 1
