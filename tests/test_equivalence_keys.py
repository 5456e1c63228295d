from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gbfix.equivalence.keys import job_key
from gbfix.equivalence.model import Job, Settings, Target, Tolerance
from gbfix.evidence.model import ArgumentsSeen

JOB = Job(Target("m:f", "/p/m.py", "m", "/p", "f"), {"/p/m.py": "a", "/p/n.py": "b"}, {"/p/m.py": "c"})
CHANGES = [
    {"target": replace(JOB.target, attribute="g")},
    {"target": replace(JOB.target, factory="m:make")},
    {"original": {"/p/m.py": "a"}},
    {"rewritten": {"/p/m.py": "d"}},
    {"original": JOB.rewritten, "rewritten": JOB.original},
    {"seen": (ArgumentsSeen({}, 2),)},
    {"inputs": "t:inputs"},
    {"settings": Settings(backend="inductor")},
    {"settings": Settings(examples=7)},
    {"settings": Settings(seed=1)},
    {"settings": Settings(tolerance=Tolerance(0.1, 0.0))},
]


@pytest.mark.parametrize("change", CHANGES)
def test_everything_that_can_change_a_verdict_changes_the_key(change: dict[str, object]) -> None:
    assert job_key(replace(JOB, **change)) != job_key(JOB)  # type: ignore[arg-type]


def test_the_same_job_has_the_same_key() -> None:
    turned = replace(JOB, original=dict(reversed(JOB.original.items())), settings=Settings(database="/d"))
    assert job_key(turned) == job_key(JOB)


def test_files_that_both_versions_read_count(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("x = 1\n")
    before = job_key(JOB, [helper])
    assert before != job_key(JOB)
    assert before == job_key(JOB, [helper, helper])
    helper.write_text("x = 2\n")
    assert before != job_key(JOB, [helper])


@pytest.mark.parametrize("package", ["torch", "gbfix"])
def test_the_versions_of_torch_and_gbfix_count(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    before = job_key(JOB)
    monkeypatch.setattr("gbfix.equivalence.keys.version", lambda name: "9.9" if name == package else "0")
    other = job_key(JOB)
    monkeypatch.setattr("gbfix.equivalence.keys.version", lambda name: "9.8" if name == package else "0")
    assert len({before, other, job_key(JOB)}) == 3
