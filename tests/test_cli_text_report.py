from __future__ import annotations

import io
from pathlib import Path

import pytest

from gbfix.cli.outcome import Entry, FileOutcome
from gbfix.cli.terminal import Terminal
from gbfix.cli.text_report import write_file
from gbfix.engine.files import SourceText
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

SPAN = Span(12, 4, 12, 9)
FINDING = Finding(
    "GBF101",
    "tensor-value-branch",
    SPAN,
    "branch on x[0]",
    "f",
    "@torch.compile (line 3)",
    (
        Obligation("predicate has one element", Discharge.PROVED, "x.sum() reduces every dimension", 11),
        Obligation("gradients equal", Discharge.ASSUMED, "nothing is known of [bold]x[/bold]"),
    ),
    Fix("t", (Replacement(SPAN, "y"),)),
)
DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x[int]\r\n+y\r\n z"


def _written(entry: Entry, *, columns: int | None = None, hunks: bool = True) -> str:
    stream = io.StringIO()
    file = FileOutcome(SourceText(Path("a.py"), "", "utf-8", False), "", (entry,), (), (7,))
    write_file(Terminal(stream, columns is not None, False), file, hunks_of_applied=hunks)
    return stream.getvalue()


def test_the_layout() -> None:
    assert _written(Entry(FINDING, DIFF)) == (
        "a.py:12:5  GBF101 tensor-value-branch   unsafe\n"
        "  branch on x[0] in f, compiled: @torch.compile (line 3)\n"
        "  proved    predicate has one element  x.sum() reduces every dimension (line 11)\n"
        "  assumed   gradients equal            nothing is known of [bold]x[/bold]\n"
        "@@ -1,2 +1,2 @@\n-x[int]\n+y\n z\n\n"
        "a.py:7: note: this suppression comment silences nothing; remove it\n"
    )


def test_without_hunks_when_the_patch_goes_elsewhere() -> None:
    assert "@@" not in _written(Entry(FINDING, DIFF), hunks=False)


@pytest.mark.parametrize("columns", [30, 50, 70])
def test_on_a_narrow_terminal_words_wrap_in_their_columns(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = [line for line in _written(Entry(FINDING), columns=columns).splitlines() if line.startswith("  ")]
    assert max(map(len, rows)) <= columns
    assert " ".join(" ".join(rows).split()).startswith("branch on x[0] in f, compiled: @torch.compile (line 3) proved")
