"""Rewrites that are wrong on purpose are told from right ones, on inputs that nobody wrote by hand.

`planted/<name>`: `original.py`, a wrong `rewritten.py`, and `expect.txt`, the aspects of which the check has to name
one. `seen.py`: arguments of a call, as recorded calls would show them, where annotations cannot say enough.
`planted_right`: rewrites that are right for a reason that is easy to miss. `planted_unreached`: `expect.txt` is the
outcome of the condition that no input has.

Each takes seconds, so that without `--planted` only some of the wrong ones are tried: those of PROGRAMS_RUN, and one of
three of the others.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gbfix.analysis.observations import ValueSpec
from gbfix.equivalence.check import check
from gbfix.equivalence.model import Job, Settings, Status, Target, Verdict
from gbfix.evidence.describe import describe
from gbfix.evidence.model import ArgumentsSeen

TESTS = Path(__file__).parent
SETTINGS = Settings(backend="eager")
PROGRAMS_RUN = (
    "aug_assign_became_selection",
    "batch_norm_of_the_unused_side",
    "dtype_half_and_float",
    "empty_case_dropped",
    "exception_type_changed",
    "message_lost",
    "message_skipped_when_compiled",
    "nan_gradient_of_sqrt",
    "parameter_of_the_unused_side_gets_zeros",
    "process_ended",
    "random_drawn_on_both_sides",
    "short_circuit_on_none_lost",
    "strides_changed",
    "wrong_only_when_compiled",
)
"""The wrong rewrites whose counterexample is also run as a program: one or two of each kind."""


def _cases(folder: str) -> list[str]:
    return sorted(path.parent.name for path in (TESTS / folder).glob("*/original.py"))


def _chosen(name: str, request: pytest.FixtureRequest) -> bool:
    others = [each for each in _cases("planted") if each not in PROGRAMS_RUN]
    return bool(request.config.getoption("--planted")) or name in PROGRAMS_RUN or name in others[::3]


def _check(folder: Path, root: Path) -> Verdict:
    original, rewritten = ((folder / f"{version}.py").read_text() for version in ("original", "rewritten"))
    attribute = "Net" if "class Net" in original else "f"
    file = root.resolve() / f"case_{folder.name}.py"
    file.write_text(original)
    target = Target(f"{file.stem}:{attribute}", str(file), file.stem, str(file.parent), attribute)
    return check(Job(target, {str(file): original}, {str(file): rewritten}, _seen(folder), settings=SETTINGS))


def _seen(folder: Path) -> tuple[ArgumentsSeen, ...]:
    """What a recorded call with the arguments of `seen.py` says."""
    path = folder / "seen.py"
    if not path.exists():
        return ()
    arguments = zip(("x", "limit"), runpy.run_path(str(path))["ARGUMENTS"], strict=False)
    return (ArgumentsSeen({name: msgspec.convert(describe(value), ValueSpec) for name, value in arguments}),)


@pytest.fixture(scope="module")
def caught() -> list[str]:
    """The names of the wrong rewrites that were found."""
    return []


@pytest.mark.parametrize("name", _cases("planted"))
def test_wrong_rewrite_is_found(name: str, tmp_path: Path, caught: list[str], request: pytest.FixtureRequest) -> None:
    if not _chosen(name, request):
        pytest.skip("needs --planted")
    folder = TESTS / "planted" / name

    verdict = _check(folder, tmp_path)

    assert verdict.status is Status.DIFFERENT, verdict.reason
    assert verdict.counterexample is not None
    aspects = {difference.aspect for difference in verdict.counterexample.differences}
    assert aspects & set((folder / "expect.txt").read_text().strip().split(", ")), verdict.reason
    assert verdict.counterexample.call
    if name in PROGRAMS_RUN:
        _run(verdict.counterexample.program, tmp_path)
    caught.append(name)


def _run(program: str, folder: Path) -> None:
    """The program shows the difference without gbfix: it ends with status 1."""
    script = folder / "show_difference.py"
    script.write_text(program)
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=folder, check=False)
    assert ended.returncode == 1, f"{ended.stdout}\n{ended.stderr}"
    assert "import gbfix" not in program
    assert "from gbfix" not in program


def test_number_of_wrong_rewrites_that_are_found(caught: list[str], request: pytest.FixtureRequest) -> None:
    planted = _cases("planted")
    assert len(planted) >= 52
    if hasattr(request.config, "workerinput"):
        pytest.skip("the cases ran in several processes")
    asked = {item.name for item in request.session.items}
    ran = [name for name in planted if f"test_wrong_rewrite_is_found[{name}]" in asked and _chosen(name, request)]
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"caught / planted: {len(caught)} / {len(ran)}")
    assert caught == ran


@pytest.mark.parametrize("name", _cases("planted_right"))
def test_right_rewrite_is_equal(name: str, tmp_path: Path) -> None:
    verdict = _check(TESTS / "planted_right" / name, tmp_path)

    assert verdict.status is Status.EQUAL, verdict.reason
    assert not any(branch.missing for branch in verdict.branches)
    assert verdict.exercised.compiled > 0


@pytest.mark.parametrize("name", _cases("planted_unreached"))
def test_side_that_no_input_reaches_is_no_pass(name: str, tmp_path: Path) -> None:
    folder = TESTS / "planted_unreached" / name

    verdict = _check(folder, tmp_path)

    assert verdict.status is Status.NOT_TESTED
    assert "side not reached" in verdict.reason
    assert f"never {(folder / 'expect.txt').read_text().strip()}" in verdict.reason
