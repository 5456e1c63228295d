from __future__ import annotations

import pytest

from gbfix.cli.failure import internal_error, one_line_failures
from gbfix.engine.model import WriteError


def test_each_problem_is_a_line_and_the_end_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end, one_line_failures():
        raise WriteError("a.py: read-only\nb.py: read-only")
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: a.py: read-only\nerror: b.py: read-only\n"


def test_an_internal_error_is_one_line_with_the_place() -> None:
    try:
        raise KeyError("one\ntwo")
    except KeyError as error:
        text = internal_error("a.py", error)
    assert text.startswith("internal error in a.py: KeyError: ")
    assert "(test_cli_failure.py:" in text
    assert text.endswith("; please report")
    assert "\n" not in text
