from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from verdicts import CLOSE, DIFFERENT, EQUAL, NOT_REACHED, TIMED

from gbfix.cli.check_plan import Planned
from gbfix.cli.check_run import Checks, counterexample_file, is_equal, write_tests
from gbfix.equivalence.model import CheckError, CheckReport, Job, Settings, Target, Verdict
from gbfix.equivalence.store import load_verdicts


def plan(verdict: Verdict, settings: Settings | None = None) -> Planned:
    module, _, attribute = verdict.target.partition(":")
    job = Job(
        Target(verdict.target, f"/p/{module}.py", module, "/p", attribute), {}, {}, settings=settings or Settings()
    )
    return Planned(verdict.target, job, versions="original: a; rewritten: b", key=f"key of {verdict.target}")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the targets that were really checked; the verdicts come in reverse."""
    verdicts = {verdict.target: verdict for verdict in (CLOSE, DIFFERENT, EQUAL, NOT_REACHED)}
    names: list[str] = []

    def run_jobs(jobs: Sequence[Job], _workers: int, _advance: Any) -> Iterator[tuple[int, Verdict]]:
        for number in reversed(range(len(jobs))):
            names.append(jobs[number].target.name)
            yield number, replace(verdicts[jobs[number].target.name], versions="", earlier=False)

    monkeypatch.setattr("gbfix.cli.check_run.run_jobs", run_jobs)
    return names


def test_the_report_is_in_the_order_of_names_and_knows_the_versions(tmp_path: Path, ran: list[str]) -> None:
    plans = [plan(EQUAL), Planned("a:b", problem="why"), Planned("c:nothing"), plan(DIFFERENT)]
    report = Checks(tmp_path).run(plans)
    assert [(verdict.target, verdict.reason) for verdict in report.verdicts] == [
        ("a:b", "why"),
        (DIFFERENT.target, DIFFERENT.reason),
        (EQUAL.target, EQUAL.reason),
    ]
    assert {verdict.versions for verdict in report.verdicts} == {"", "original: a; rewritten: b"}
    assert ran == [DIFFERENT.target, EQUAL.target]


def test_what_was_found_equal_is_not_checked_again(tmp_path: Path, ran: list[str]) -> None:
    plans = [plan(EQUAL), plan(DIFFERENT), plan(NOT_REACHED)]
    Checks(tmp_path).run(plans)
    ran.clear()
    report = Checks(tmp_path).run(plans)
    assert sorted(ran) == sorted([DIFFERENT.target, NOT_REACHED.target])
    assert {verdict.target: verdict.earlier for verdict in report.verdicts}[EQUAL.target]
    Checks(tmp_path).run([replace(plans[0], key="another")])
    assert ran[-1] == EQUAL.target


def test_times_are_taken_anew_and_so_is_all_with_rerun(tmp_path: Path, ran: list[str]) -> None:
    Checks(tmp_path).run([plan(EQUAL)])
    Checks(tmp_path).run([plan(EQUAL, Settings(bench=True))])
    Checks(tmp_path, rerun=True).run([plan(EQUAL)])
    assert ran == [EQUAL.target] * 3


def test_an_old_time_is_not_shown_where_none_was_asked_for(
    tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gbfix.cli.check_run.run_jobs", lambda *_: iter([(0, replace(EQUAL, bench=TIMED))]))
    assert Checks(tmp_path).run([plan(EQUAL)]).verdicts[0].bench == TIMED
    assert Checks(tmp_path).run([plan(EQUAL)]).verdicts[0].bench is None
    assert ran == []


def test_verdicts_are_kept_also_when_a_later_check_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_jobs(*_: object) -> Iterator[tuple[int, Verdict]]:
        yield 1, EQUAL
        raise KeyboardInterrupt

    monkeypatch.setattr("gbfix.cli.check_run.run_jobs", run_jobs)
    with pytest.raises(KeyboardInterrupt):
        Checks(tmp_path).run([plan(DIFFERENT), plan(EQUAL)])
    assert [verdict.key for verdict in load_verdicts(tmp_path)] == [f"key of {EQUAL.target}"]


def test_the_program_that_shows_a_difference_is_kept(tmp_path: Path, ran: list[str]) -> None:
    Checks(tmp_path).run([plan(DIFFERENT)])
    assert ran
    assert counterexample_file(tmp_path, DIFFERENT).read_text() == "import torch\n"
    name = counterexample_file(tmp_path, replace(DIFFERENT, target="tests/../x.py::f[a/b]")).relative_to(tmp_path)
    assert name.parts[:2] == (".gbfix", "counterexamples")
    assert len(name.parts) == 3


def test_what_cannot_be_kept_is_said_and_the_report_is_there(
    tmp_path: Path, ran: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".gbfix").mkdir()
    (tmp_path / ".gbfix" / "counterexamples").symlink_to(tmp_path / "elsewhere")
    report = Checks(tmp_path).run([plan(DIFFERENT)])
    assert [verdict.target for verdict in report.verdicts] == ran
    assert capsys.readouterr().err == f"note: {tmp_path}/.gbfix/counterexamples: is a symbolic link; remove it\n"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_equal_is_only_what_has_reached_both_sides() -> None:
    assert is_equal(EQUAL)
    assert is_equal(CLOSE)
    assert not is_equal(replace(EQUAL, branches=NOT_REACHED.branches))
    assert not is_equal(DIFFERENT)


def test_only_what_was_found_equal_is_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[tuple[list[str], Path]] = []

    def write_test(pairs: list[tuple[Job, Verdict]], file: Path) -> None:
        written.append(([job.target.name for job, _ in pairs], file))

    monkeypatch.setattr("gbfix.equivalence.write_test.write_test", write_test)
    monkeypatch.chdir(tmp_path)
    verdicts = (CLOSE, DIFFERENT, EQUAL)
    write_tests(CheckReport("/p", verdicts=verdicts), [plan(verdict) for verdict in verdicts], tmp_path / "t.py")
    assert written == [([CLOSE.target, EQUAL.target], tmp_path / "t.py")]
    said = capsys.readouterr().err
    assert "note: no test for model:Net, which is different\n" in said
    assert said.endswith("wrote t.py; run it with: pytest t.py\n")
    with pytest.raises(CheckError, match=r"t\.py: not written, since nothing was found equal"):
        write_tests(CheckReport("/p", verdicts=(DIFFERENT,)), [plan(DIFFERENT)], tmp_path / "t.py")
