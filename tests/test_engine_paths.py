from __future__ import annotations

import os
from pathlib import Path

import pytest

from gbfix.engine.paths import printable


@pytest.mark.parametrize("name", ["a.py", "two words/größe.py", "日本.py"])
def test_an_ordinary_path_stays(name: str) -> None:
    assert printable(Path(name)) == name


@pytest.mark.parametrize("name", ["a\nb.py", "a\x1b[31m.py", os.fsdecode(b"\xff.py")])
def test_a_path_that_would_break_the_line_or_the_output_is_escaped(name: str) -> None:
    shown = printable(Path(name))
    assert shown.isprintable()
    assert shown.isascii()
    assert shown.endswith(".py'")
