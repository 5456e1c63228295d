from __future__ import annotations

import importlib.util
import os
import re
import secrets
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gbfix.engine.model import GbfixError
from gbfix.equivalence import ray_cluster
from gbfix.equivalence.model import Counterexample, Job, Settings, Status, Target, Verdict
from gbfix.equivalence.pool import run_jobs
from gbfix.equivalence.ray_cluster import moved_job, moved_verdict, run_on_ray

RAY = Path(sys.executable).with_name("ray")

PROGRAM = """
import torch

def step(x: torch.Tensor):
    if x.sum() > 0:
        y = x * 2.0
    else:
        y = x + 1.0
    return y
"""

RIGHT = """
import torch

def step(x: torch.Tensor):
    y = torch.where(x.sum() > 0, x * 2.0, x + 1.0)
    return y
"""

WORKS = """
import os, pathlib
from gbfix.equivalence.model import Status, Verdict

def look(job, progress):
    here = os.path.dirname(job.target.file)
    files = sorted(str(path.relative_to(here)) for path in pathlib.Path(here).rglob("*.py"))
    progress("looking", 1, 2)
    return Verdict(job.target.name, Status.EQUAL, f"{job.target.file} {open(job.target.file).read()!r} {files}")

def folder(job, progress):
    return Verdict(job.target.name, Status.EQUAL, f"{os.getcwd()} {sorted(set(os.listdir()) - {'__pycache__'})}")

def exits(job, progress):
    os._exit(3)

def refuses(job, progress):
    raise ValueError("cannot")

def ends_the_worker(job, progress):
    import signal
    os.kill(os.getppid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[dict[str, str]]:
    """Nobody else gets into the cluster. Ray reads the mode when it is imported."""
    settings = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
    with pytest.MonkeyPatch.context() as patch:
        for name, text in settings.items():
            patch.setenv(name, text)
        yield dict(os.environ)


@pytest.fixture(scope="module")
def cluster(environment: dict[str, str]) -> Iterator[str]:
    """The address of a Ray of two CPUs on this machine."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    start = [RAY, "start", "--head", "--port=0", "--num-cpus=2", "--object-store-memory=80000000"]
    start += ["--include-dashboard=false", "--disable-usage-stats", "--node-ip-address=127.0.0.1", "--block"]
    process = subprocess.Popen(
        start, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"--address='([\d.]+:\d+)'", line):
                break
        else:
            pytest.fail(said)
        yield found[1]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(PROGRAM)
    (folder / "works.py").write_text(WORKS)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref")
    return folder


def job_for(root: Path, **settings: Any) -> Job:
    file = str(root / "model.py")
    target = Target("model:step", file, "model", str(root), "step")
    return Job(target, {file: PROGRAM}, {file: RIGHT}, settings=Settings(seconds=60, **settings))


def test_a_check_runs_in_the_projects_files_and_speaks_of_them_by_their_own_names(cluster: str, root: Path) -> None:
    told: list[Any] = []
    jobs = [job_for(root), job_for(root)]
    found = dict(run_on_ray(jobs, cluster, root, lambda *what: told.append(what), work="works:look"))
    assert sorted(found) == [0, 1]
    assert found[0].status is Status.EQUAL
    assert found[0].reason == f"{root}/model.py {PROGRAM!r} ['model.py', 'works.py']"
    assert {number for number, *_ in told} == {0, 1}


def test_the_end_of_a_check_is_a_verdict_on_it_alone(cluster: str, root: Path) -> None:
    reasons = {}
    for work in ("exits", "refuses", "ends_the_worker"):
        ((_, verdict),) = run_on_ray([job_for(root)], cluster, root, work=f"works:{work}")
        assert verdict.status is Status.NOT_TESTED
        reasons[work] = verdict.reason
    assert "exited with status 3" in reasons["exits"]
    assert "cannot" in reasons["refuses"]
    assert reasons["ends_the_worker"].startswith("its Ray task failed: ")
    assert "\n" not in "".join(reasons.values())


def test_a_cluster_without_a_gpu_is_no_place_for_cuda(cluster: str, root: Path) -> None:
    with pytest.raises(GbfixError, match="the cluster has no GPU for --device cuda"):
        list(run_on_ray([job_for(root, device="cuda")], cluster, root))


def test_workers_with_other_versions_are_told_apart(cluster: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "versions_here", lambda: {"torch": "1.0"})
    import ray

    real = ray.remote
    there = {"torch": "2.0"}
    monkeypatch.setattr(ray, "remote", lambda _function: real(lambda: there))
    with pytest.raises(GbfixError, match=r"the workers have torch 2\.0 instead of 1\.0; install the same there"):
        list(run_on_ray([job_for(root)], cluster, root))


@pytest.mark.parametrize("folder", [".", "part", "/"])
def test_checks_run_in_the_current_folder(
    cluster: str, root: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "part").mkdir()
    (root / "part" / "data.txt").write_text("data")
    monkeypatch.chdir(root / folder)
    ((_, verdict),) = run_on_ray([job_for(root)], cluster, root, work="works:folder")
    assert verdict.reason == {"part": f"{root}/part ['data.txt']", ".": f"{root} ['model.py', 'part', 'works.py']"}.get(
        folder, verdict.reason
    )
    assert (str(root) in verdict.reason) == (folder != "/")


def test_verdicts_are_those_of_the_pool(cluster: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    file = str(root / "model.py")
    wrong = replace(job_for(root, examples=20), rewritten={file: RIGHT.replace("x + 1.0", "x + 3.0")})
    jobs = [job_for(root, examples=20), wrong]
    there = dict(run_on_ray(jobs, cluster, root))
    here = dict(run_jobs(jobs, 2))
    assert [there[number].status for number in (0, 1)] == [Status.EQUAL, Status.DIFFERENT]
    for number in (0, 1):
        assert replace(there[number], seconds=0.0) == replace(here[number], seconds=0.0)


def test_nobody_answers(root: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    for name in (address, f"ray://{address}"):
        with pytest.raises(GbfixError, match=f"--ray {name}: nobody answers there"):
            list(run_on_ray([job_for(root)], name, root))


def test_ray_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(GbfixError, match=re.escape("pip install 'gbfix[ray]'")):
        list(run_on_ray([job_for(root)], "auto", root))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("Version mismatch: The cluster was started with:\n Ray: 2.9"), "run gbfix with the Python and"),
        (ValueError("Package size (2GiB) exceeds the maximum size of 512MiB"), r"in \.gitignore"),
        (ConnectionError("Could not find\nany running Ray instance"), "`ray status` tells"),
        (ImportError("grpc"), r"ray\[client\]"),
    ],
)
def test_what_ray_says_is_told_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def init(**_options: Any) -> None:
        raise error

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, shutdown=lambda: None))  # type: ignore[arg-type]
    with pytest.raises(GbfixError, match=said) as raised:
        list(run_on_ray([job_for(root)], "auto", root))
    assert "\n" not in str(raised.value)


def test_only_paths_of_the_project_move() -> None:
    target = Target("model:step", "/home/p/model.py", "model", "/home/p", "step")
    texts = {"/home/p/model.py": "open('/home/p/data')", "/home/pp/other.py": ""}
    moved = moved_job(Job(target, texts, texts, settings=Settings(database="/home/p/.gbfix/examples")), "/home/p", "/w")
    assert (moved.target.file, moved.target.search) == ("/w/model.py", "/w")
    assert moved.original == {"/w/model.py": "open('/home/p/data')", "/home/pp/other.py": ""}
    assert moved.settings.database == ""
    example = Counterexample("x=1", "import sys; sys.path[:0] = ['/w']", ())
    verdict = Verdict("model:step", Status.DIFFERENT, "/w/model.py:3", counterexample=example)
    back = moved_verdict(verdict, "/w", "/home/p")
    assert back.reason == "/home/p/model.py:3"
    assert back.counterexample == replace(example, program=textwrap.dedent("import sys; sys.path[:0] = ['/home/p']"))
