"""Which files are observed: the project's and libraries', not those of PyTorch, Python and the recording itself."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from gbfix.evidence import describe
from gbfix.evidence.sources import Sources

PROGRAM = "def f(x):\n    y = x\n    return y if x else None\n"


def test_files_of_the_project_by_relative_and_absolute_names(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    sources = Sources(str(tmp_path))
    for name in ("program.py", str(tmp_path / "program.py")):
        assert sources.is_project(name)
        assert sorted(sources.lines(name)) == [2, 3]


def test_libraries_are_observed_but_no_project(tmp_path: Path) -> None:
    library = tmp_path / "lib" / "site-packages" / "library.py"
    library.parent.mkdir(parents=True)
    library.write_text(PROGRAM)
    sources = Sources(str(tmp_path))
    assert sources.is_observed(str(library))
    assert not sources.is_project(str(library))


def test_foundations_and_the_recording_are_not_observed(tmp_path: Path) -> None:
    sources = Sources(str(tmp_path))
    for file in (torch.nn.functional.__file__, os.__file__, "<string>", describe.__file__):
        assert not sources.is_observed(file)
        assert sources.lines(file) == {}
        assert sources.add(file, 1) is None


def test_a_line_that_decides_nothing_becomes_a_candidate(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + "z = 1\n")
    sources = Sources(str(tmp_path))
    assert 4 not in sources.lines("program.py")
    added = sources.add("program.py", 4)
    assert sources.lines("program.py")[4] is added is not None
