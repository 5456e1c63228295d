from __future__ import annotations

from pathlib import Path

import pytest
from cli_project import Project


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden/*/*/after.py anew")
    parser.addoption("--planted", action="store_true", help="try every planted mistake, not one of three (minutes)")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty git repository."""
    root = tmp_path / "project"
    root.mkdir()
    made = Project(root)
    assert made.git("init", "--quiet").code == 0
    return made
