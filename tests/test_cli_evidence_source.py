from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from cli_project import Project

from gbfix.cli.evidence_source import check_choice, is_evidence, read_saved
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.evidence.model import Break, Evidence, Place


def test_a_command_or_something_saved_but_not_both() -> None:
    check_choice(["train.py"], None)
    check_choice([], Path("traces"))
    with pytest.raises(ConfigurationError, match=r"gbfix trace -- train\.py"):
        check_choice([], None)
    with pytest.raises(ConfigurationError, match="leave out"):
        check_choice(["train.py"], Path("traces"))


def test_evidence_is_told_from_traces_and_logs(tmp_path: Path) -> None:
    for name, text in (("evidence.json", '\n{"root": "/"}'), ("trace.log", 'V1129 torch/x.py:1] {"str": ["a", 0]}')):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert is_evidence(tmp_path / "evidence.json")
    assert not is_evidence(tmp_path / "trace.log")
    assert not is_evidence(tmp_path)


def test_what_can_be_read_only_once_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(GbfixError, match=r"pipe: is no file; .* saved to a file first"):
        read_saved(pipe, tmp_path)


def test_evidence_that_somebody_edited_is_no_traceback(project: Project) -> None:
    for name in ("a\0b.py", "x" * 3000 + ".py"):
        document = Evidence(str(project.root), breaks=(Break(Place(name, 3), gb="GB0059"),))
        project.write("edited.json", msgspec.json.encode(document))
        done = project.gbfix("trace", "--from", "edited.json")
        assert done.code in (0, 2)
        assert "Traceback" not in done.err
