from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.names import display_name


def test_relative_below_the_current_folder_and_absolute_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert display_name(Path("a/b.py")) == "a/b.py"
    assert display_name(Path("./a/../b.py")) == "b.py"
    assert display_name(here / "b.py") == "b.py"
    assert display_name(Path("../b.py")) == str(tmp_path / "b.py")
