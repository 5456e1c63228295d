"""`gbfix apply --check` of marks: the recorded command runs again with them, and decides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_project import Project
from recompiled import Sizes, recompiles_of

from gbfix.analysis.project import load
from gbfix.analysis.recompiles import Line
from gbfix.analysis.source import parse
from gbfix.cli.apply_trial import SAVED, Trial, run_trial, verdict
from gbfix.cli.check_facts import Refusal
from gbfix.cli.outcome import Outcome
from gbfix.codemods._recompiled import recompiled_functions
from gbfix.engine.checked import SHOWN_BY_TRIAL, STAYS_ASSUMED, needs_of, with_trial
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span
from gbfix.evidence.model import Evidence

EXAMPLE = (Path(__file__).parent.parent / "examples" / "two_sizes.py").read_text()
PROGRAM = """import torch

import steps

lin = torch.nn.Linear(3, 3)


@torch.compile(backend="eager")
def open_to_all(x, y):
    return lin(x) + y.sum(0)


@torch.compile(backend="eager")
def fixed(x):
    n = x.shape[0]
    return x * 2 if n == 4 else x * 3


def main():
    for n in (2, 3, 5):
        open_to_all(torch.ones(n, 3), torch.ones(n, 3))
    for n in (4, 5):
        x = torch.ones(n)
        fixed(x)
        steps.call(x)


main()
"""
STEPS = """import torch

compiled = torch.compile(lambda x: x.cumsum(0), dynamic=False, backend="eager")


def call(x):
    return compiled(x)
"""


def compiles(project: Project) -> dict[str, int]:
    fragments = json.loads(project.read(".gbfix/evidence.json"))["fragments"]
    functions = [fragment["place"]["function"] for fragment in fragments]
    return {function: functions.count(function) for function in functions}


def test_the_example_is_compiled_once(project: Project) -> None:
    project.write("two_sizes.py", EXAMPLE)
    project.commit()
    before = project.gbfix("trace", "--", "two_sizes.py")
    assert compiles(project) == {"halve": 2}
    done = project.gbfix("apply", "--check")
    assert (done.code, done.err.count("error")) == (0, 0)
    assert "checked   a trial run compiles it less often  the recorded command compiled halve once" in done.out
    assert project.read("two_sizes.py").count("torch._dynamo.mark_dynamic(x, 0)\n") == 2
    after = project.gbfix("trace", "--", "two_sizes.py")
    assert compiles(project) == {"halve": 1}
    assert (after.code, after.out) == (before.code, before.out)
    assert project.gbfix("apply", "--dry-run").code == 0


def test_a_trial_tells_what_is_open_from_what_is_fixed(project: Project) -> None:
    project.write("program.py", PROGRAM)
    project.write("steps.py", STEPS)
    project.commit()
    project.gbfix("trace", "--", "program.py")
    assert compiles(project) == {"open_to_all": 2, "fixed": 2, "<lambda>": 2}
    done = project.gbfix("apply", "--check")
    assert "violated  a trial run compiles it less often  it compiled fixed 2 times, 2 times without" in done.out
    assert done.out.rstrip().splitlines()[-2:][0].endswith("2 fixes applied in 2 files, 1 refused")
    assert "torch._dynamo.maybe_mark_dynamic(y, 0)\n        open_to_all(x_2, y)" in project.read("program.py")
    assert "maybe_mark_dynamic(x, 0)\n        fixed(x)" not in project.read("program.py")
    assert "    torch._dynamo.maybe_mark_dynamic(x, 0)\n    return compiled(x)\n" in project.read("steps.py")
    project.gbfix("trace", "--", "program.py")
    assert compiles(project) == {"open_to_all": 1, "fixed": 2, "<lambda>": 1}


def decided(trial: Trial) -> str | Refusal:
    source = parse("a.py", "import torch\n\n\n@torch.compile\ndef f(x):\n    return x\n")
    project = load([source], recompiles=recompiles_of(source, Sizes("f", [{"x": (2,)}, {"x": (3,)}])))
    after = project.with_file(parse("a.py", "import math\n" + source.text))
    (one,) = recompiled_functions(project)
    return verdict(trial, one, after)


def test_fewer_compilations_let_a_fix_pass() -> None:
    assert decided(Trial({(Line("a.py", 5), "f", "f"): 1})) == "the recorded command compiled f once, 2 times without"


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        (Trial({(Line("a.py", 5), "f", "f"): 2}), "it compiled f 2 times, 2 times without"),
        (Trial({(Line("a.py", 4), "f", "f"): 1}), "not tested: the trial run never compiled f"),
        (Trial({}, "it took too long"), "not tested: it took too long"),
        (Trial({}, "it ends with status 1", failed=True), "it ends with status 1"),
    ],
)
def test_anything_else_is_a_refusal(trial: Trial, reason: str) -> None:
    found = decided(trial)
    assert isinstance(found, Refusal)
    assert (found.claim, found.reason) == (SAVED, reason)


def trial_of(root: Path, text: str, seconds: float = 60.0) -> Trial:
    script = root / "program.py"
    script.write_text(text)
    evidence = Evidence(str(root), command=("python", "program.py"), exit_status=0)
    return run_trial(evidence, Outcome((), (), 0), seconds)


def test_a_run_that_ends_in_another_way(tmp_path: Path) -> None:
    trial = trial_of(tmp_path, "raise ValueError('no such size')")
    assert trial.failed
    assert trial.problem == ("with it the recorded command ends with status 1 instead of 0: ValueError: no such size")


def test_a_run_that_takes_too_long(tmp_path: Path) -> None:
    assert trial_of(tmp_path, "import time\ntime.sleep(60)", 0.5).problem.endswith("was not done after 0 seconds")


def test_a_saved_trace_and_a_missing_script_cannot_be_run(tmp_path: Path) -> None:
    none = Outcome((), (), 0)
    assert "names no command" in run_trial(Evidence(str(tmp_path), mode="torch_trace"), none, 1.0).problem
    gone = Evidence(str(tmp_path), command=("python", "gone.py"))
    assert "gone.py is not found" in run_trial(gone, none, 1.0).problem


def test_only_claims_of_its_kind_are_checked_by_a_trial() -> None:
    claims = [*SHOWN_BY_TRIAL, "nobody relies on the error"]
    obligations = tuple(Obligation(claim, Discharge.ASSUMED, "not known") for claim in claims)
    span = Span(1, 0, 1, 4)
    fix = Fix("mark", (Replacement(span, "f(x)"),))
    found = with_trial(Finding("GBF401", "varying-size", span, "found", "f", "compiled", obligations, fix), "less")
    assert {o.discharge for o in found.obligations[:-1]} == {Discharge.CHECKED}
    assert found.obligations[-1].discharge is Discharge.ASSUMED
    for claim in SHOWN_BY_TRIAL:
        assert claim not in STAYS_ASSUMED
        assert needs_of(Obligation(claim, Discharge.ASSUMED, "")) is None
