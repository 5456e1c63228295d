from __future__ import annotations

from pathlib import Path

import pytest
from cli_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty git repository."""
    root = tmp_path / "project"
    root.mkdir()
    made = Project(root)
    assert made.git("init", "--quiet").code == 0
    return made
