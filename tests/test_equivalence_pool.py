from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gbfix.equivalence.model import CheckError, Job, Settings, Status, Target, Verdict
from gbfix.equivalence.pool import run_jobs

HERE = Path(__file__).parent
SCRIPT = """
import sys
from test_equivalence_pool import job
from gbfix.equivalence.pool import run_jobs

for number, verdict in run_jobs([job("hangs " + sys.argv[1]), job("hangs " + sys.argv[1])], 2, work="pool_work:work"):
    print(number, verdict)
"""


@pytest.fixture(autouse=True)
def _work_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def job(what: str, seconds: float = 300.0, device: str = "cpu") -> Job:
    target = Target(f"model:{what.split()[0]}", "/p/model.py", "model", "/p", "f")
    return Job(target, {}, {}, inputs=what, settings=Settings(seconds=seconds, device=device), fixes=("model.py:1 X",))


def only(what: str, seconds: float = 300.0) -> Verdict:
    ((number, verdict),) = run_jobs([job(what, seconds)], 1, work="pool_work:work", grace=0)
    assert number == 0
    assert verdict.target == f"model:{what.split()[0]}"
    return verdict


def test_a_host_starts_clean() -> None:
    assert only("plain").status is Status.EQUAL
    assert only("plain").reason == "torch imported: False; path: False; cli imported: False"


def test_every_job_gets_its_verdict_and_progress_is_told() -> None:
    told: list[tuple[int, str, int, int]] = []
    jobs = [job(what) for what in ("plain", "fails", "plain", "exits", "plain")]
    done = dict(run_jobs(jobs, 2, lambda *words: told.append(words), work="pool_work:work"))
    assert sorted(done) == [0, 1, 2, 3, 4]
    assert [done[n].status.value for n in range(5)] == ["equal", "not tested", "equal", "not tested", "equal"]
    assert sorted(told) == [(number, "working", 3, 10) for number in range(5)]
    assert done[1].reason == "model.py:3: something is wrong"
    assert done[1].fixes == ("model.py:1 X",)


def test_a_host_that_dies_says_how() -> None:
    assert only("exits").reason == "its process exited with status 7 (working, 3 of 10)"
    assert only("killed").reason == "its process was killed by SIGKILL (out of memory?) (working, 3 of 10)"
    assert (
        only("bug").reason == "internal error in the check: ZeroDivisionError: a bug (pool_work.py:25); please report"
    )


def test_a_fork_that_is_left_neither_keeps_the_line_open_nor_lives_on() -> None:
    started = time.monotonic()
    assert only("fork").reason.startswith("its process exited with status 9")
    assert time.monotonic() - started < 30


def test_time_that_is_up_ends_the_host_and_its_forks(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    verdict = only(f"hangs {notes}", seconds=3)
    assert verdict.status is Status.NOT_TESTED
    assert verdict.reason == "did not end within 3 s (working, 3 of 10); --timeout SECONDS gives it more time"
    assert _all_end(notes, 2)


def test_what_a_killed_host_left_in_its_temporary_folder_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    only(f"hangs {os.devnull}", seconds=2)
    assert list(tmp_path.iterdir()) == []


def test_leaving_early_ends_all_hosts(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    verdicts = run_jobs([job(f"hangs {notes}"), job("plain")], 2, work="pool_work:work")
    assert next(verdicts)[0] == 1
    _wait_for(notes, 1)
    verdicts.close()  # type: ignore[attr-defined]
    assert _all_end(notes, 2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ending_the_command_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    notes = tmp_path / "pids"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = subprocess.Popen([sys.executable, "-c", SCRIPT, str(notes)], stderr=subprocess.PIPE, env=environment)
    _wait_for(notes, 2)
    command.send_signal(number)
    _, error = command.communicate(timeout=20)
    assert command.returncode != 0
    assert (b"KeyboardInterrupt" in error) == (number is signal.SIGINT)
    assert _all_end(notes, 4)
    assert list(temporary.iterdir()) == []


def test_what_no_job_can_get_round_is_an_error() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(CheckError, match="--device cuda: PyTorch finds no CUDA device here"):
        list(run_jobs([job("plain", device="cuda")], 1, work="pool_work:work"))


def _wait_for(notes: Path, lines: int) -> None:
    until = time.monotonic() + 30
    while not notes.exists() or notes.read_text().count("\n") < lines:
        assert time.monotonic() < until
        time.sleep(0.05)


def _all_end(notes: Path, count: int) -> bool:
    pids = [int(word) for word in notes.read_text().split()]
    assert len(pids) == count
    until = time.monotonic() + 10
    while any(map(_runs, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(_runs, pids))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
