"""The sweep over the golden cases: what it gives to the checks, and what it makes of their verdicts."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gbfix.equivalence.model import BranchReached, Condition, Settings, Status, Verdict

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"gbfix_benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up by name
        spec.loader.exec_module(module)
    return module


sweep = _load("golden_check")
with pytest.MonkeyPatch.context() as _patch:
    _patch.syspath_prepend(BENCHMARKS)  # it imports its neighbour
    gpu = _load("gpu_check")


def _verdicts(**statuses: Status) -> dict[Any, Verdict]:
    kinds = {"safe": "safe", "unsafe": "unsafe", "known": "different"}
    return {
        sweep.Case(f"rule/{name}", kinds[name.split("_")[0]], Path()): Verdict(name, status, "why")
        for name, status in statuses.items()
    }


def test_all_rewritten_cases_are_swept_in_three_kinds() -> None:
    cases = sweep.golden_cases()
    assert len(cases) == len(list(sweep.GOLDEN.glob("*/*/after.py")))
    assert {case.kind for case in cases} == {"safe", "unsafe", "different"}
    assert all((case.folder / "difference.txt").exists() for case in cases if case.kind == "different")
    assert [case.name for case in sweep.golden_cases(["tensor_value_branch/if_els"])] == [
        "tensor_value_branch/if_else",
        "tensor_value_branch/if_else_every_dtype",
        "tensor_value_branch/if_else_every_layout",
    ]


def test_job_has_both_versions_and_the_arguments_of_the_inputs(tmp_path: Path) -> None:
    (case,) = [case for case in sweep.golden_cases() if case.name == "tensor_value_branch/if_else"]
    job = sweep.job_of(case, tmp_path, Settings())
    assert set(job.original) == set(job.rewritten) == {str(tmp_path / "program.py")} == {job.target.file}
    assert job.original[job.target.file] == (case.folder / "before.py").read_text()
    assert job.rewritten[job.target.file] == (case.folder / "after.py").read_text()
    specs = [value.tensor for call in job.seen for value in call.values.values()]
    assert specs
    assert all(spec is not None and spec.dtype == "float32" for spec in specs)


def test_false_alarm_and_missed_difference_fail_the_sweep() -> None:
    good = _verdicts(
        safe=Status.EQUAL,
        safe_2=Status.NOT_TESTED,
        unsafe=Status.DIFFERENT,
        unsafe_2=Status.EQUAL,
        known=Status.DIFFERENT,
    )
    assert sweep.failures(good) == []
    assert "safe        2 cases: 1 equal, 1 not tested" in sweep.summary(good, 1.0)
    assert [case.name for case in sweep.failures(_verdicts(safe=Status.DIFFERENT))] == ["rule/safe"]
    assert [case.name for case in sweep.failures(_verdicts(known=Status.EQUAL))] == ["rule/known"]


def test_row_shows_which_sides_were_reached() -> None:
    (case,) = [*_verdicts(safe=Status.EQUAL)]
    reached = BranchReached(Condition("a.py", 1, 0, "x > 0"), true=1, false=1)
    verdict = Verdict("f", Status.EQUAL, "why", branches=(reached, replace(reached, false=0)))
    assert "sides +-" in sweep.row(case, verdict)


def test_gpu_jobs_are_rewrites(tmp_path: Path) -> None:
    jobs = gpu.jobs(tmp_path, Settings(device="cuda"))
    assert [job.target.name for job in jobs] == ["examples/scalar_branch", *gpu.CASES]
    for job in jobs:
        assert job.original != job.rewritten
        assert Path(job.target.file).read_text() == job.original[job.target.file]
        assert job.seen


@pytest.mark.parametrize(("python", "said"), [(sys.executable, "no CUDA device"), ("no-such-python", "no such Python")])
def test_gpu_script_says_what_it_lacks(python: str, said: str) -> None:
    environment = {**os.environ, "PYTHON": python, "CUDA_VISIBLE_DEVICES": ""}
    script = BENCHMARKS / "gpu_check.sh"
    done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
