from __future__ import annotations

import pytest

from gbfix.cli.summary import Summary, apply_line, no_region_hint, scan_line
from gbfix.engine.model import Safety

NOTHING = Summary(files=1, compiled_functions=2, changed_files=0, applied=0, safe=0, unsafe=0, refused=0, problems=0)


def _summary(**counts: int) -> Summary:
    return Summary(**{**vars(NOTHING), **counts})


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        (NOTHING, "1 file, 2 compiled functions: nothing to do"),
        (_summary(files=0, problems=1), "0 files, 2 compiled functions: nothing to do, 1 error"),
        (_summary(applied=2, changed_files=1), "1 file, 2 compiled functions: 2 fixes would be applied in 1 file"),
        (
            _summary(safe=1, unsafe=2, refused=3, compiled_functions=1),
            "1 file, 1 compiled function: 1 safe fix not applied, "
            "2 unsafe fixes not applied (--unsafe applies them), 3 refused",
        ),
    ],
)
def test_the_line_of_a_dry_run(summary: Summary, line: str) -> None:
    assert apply_line(summary, dry_run=True) == line


def test_what_was_asked_about_is_no_hidden_fix() -> None:
    line = apply_line(_summary(unsafe=1), dry_run=False, asked={Safety.UNSAFE})
    assert line == "1 file, 2 compiled functions: 1 unsafe fix not applied"


def test_the_line_of_a_scan() -> None:
    assert scan_line(NOTHING) == "1 file, 2 compiled functions: nothing found"
    assert scan_line(_summary(safe=1, refused=2, problems=2)) == (
        "1 file, 2 compiled functions: 3 findings (1 safe to fix, 2 refused), 2 errors"
    )


def test_the_hint_where_nothing_is_compiled() -> None:
    assert no_region_hint(NOTHING) is None
    assert no_region_hint(_summary(files=0, compiled_functions=0)) is None
    assert "--assume-compiled" in (no_region_hint(_summary(compiled_functions=0)) or "")
