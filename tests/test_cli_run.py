"""The flow with rules made for the test: what happens when a rule fails."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from gbfix.analysis.project import FileView, Project
from gbfix.analysis.regions import Search
from gbfix.cli.inputs import Inputs
from gbfix.cli.run import Memory, Request, run
from gbfix.engine.files import SourceText
from gbfix.engine.model import Finding, Fix, Replacement, Rule, Span


def _rename(view: FileView) -> Iterable[Finding]:
    """Finds every line "old" and makes it "new"; fails in a file with the word "explode"."""
    if "explode" in view.source.text:
        raise ZeroDivisionError("boom")
    for number, line in enumerate(view.source.lines, 1):
        if line == "old":
            span = Span(number, 0, number, 3)
            yield Finding("GBF901", "old-name", span, "old", "f", "r", fix=Fix("rename", (Replacement(span, "new"),)))


RULE = Rule("GBF901", "old-name", "old", "old", _rename)


@pytest.fixture(autouse=True)
def _looks_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of these tests compile nothing."""
    monkeypatch.setattr("gbfix.cli.run.may_tell", lambda *_: True)


def _inputs(**texts: str) -> Inputs:
    sources = (SourceText(Path(f"{name}.py"), text, "utf-8", False) for name, text in texts.items())
    return Inputs(tuple(sources), ())


def test_only_files_that_compile_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    compiles = "import torch\ntorch.compile(print)\nold\n"
    outcome = run(_inputs(a="old\n", b=compiles, c="old  # gbfix: ignore\nold\n"), Request((RULE,), edit=True))
    assert [file.changed for file in outcome.files] == [False, True, True]


def test_an_internal_error_in_one_file_does_not_lose_the_others() -> None:
    outcome = run(_inputs(a="old\n", b="explode\n", c="old\n"), Request((RULE,), edit=True))
    assert [(file.name, file.after) for file in outcome.files] == [("a.py", "new\n"), ("c.py", "new\n")]
    (problem,) = outcome.problems
    assert problem.startswith("internal error in b.py: ZeroDivisionError: boom (test_cli_run.py:")
    assert problem.endswith("; please report")


def test_when_files_cannot_be_looked_at_together_each_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(project: Project) -> Search:
        if len(project.files) > 1:
            raise ZeroDivisionError("boom")
        return Search(())

    monkeypatch.setattr("gbfix.analysis.project.search", search)
    outcome = run(_inputs(a="old\n", b="old\n"), Request((RULE,), edit=True))
    assert [file.after for file in outcome.files] == ["new\n", "new\n"]
    assert [problem.partition(": ")[0] for problem in outcome.problems] == [
        "internal error in the search across files (each is now looked at alone)"
    ]


def test_looking_makes_no_edit_and_no_diff() -> None:
    (file,) = run(_inputs(a="old\n"), Request((RULE,), edit=False)).files
    assert (file.changed, len(file.remaining), file.remaining[0].diff) == (False, 1, "")


def test_applied_fixes_carry_their_own_diff() -> None:
    (file,) = run(_inputs(a="old\nx\nold\n"), Request((RULE,), edit=True)).files
    assert [entry.finding.span.line for entry in file.applied] == [1, 3]
    assert all(entry.diff.count("\n+new") == 1 for entry in file.applied)
    assert file.remaining == ()


def test_a_declined_fix_remains() -> None:
    request = Request((RULE,), edit=True, accept=lambda _name, entry: entry.finding.span.line == 1)
    (file,) = run(_inputs(a="old\nx\nold\n"), request).files
    assert file.after == "new\nx\nold\n"
    assert [entry.finding.span.line for entry in file.remaining] == [3]


def test_rules_look_once_at_a_text_for_runs_that_share_a_memory() -> None:
    looked = []

    def find(view: FileView) -> Iterable[Finding]:
        looked.append(view.source.text)
        return _rename(view)

    rule = Rule("GBF901", "old-name", "old", "old", find)
    request = Request((rule,), edit=True, memory=Memory())
    first = run(_inputs(a="old\n", b="old\n"), request)
    refusing = Request((rule,), edit=True, memory=request.memory, accept=lambda name, _entry: name == "a.py")
    second = run(_inputs(a="old\n", b="old\n"), refusing)
    assert [file.after for file in first.files] == ["new\n", "new\n"]
    assert [file.after for file in second.files] == ["new\n", "old\n"]
    assert sorted(looked) == ["new\n", "new\n", "old\n", "old\n"]
