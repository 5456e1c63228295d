"""Checks spread over a Ray cluster: `pool` on many machines, with the same verdicts.

Every check is a Ray task that starts the same host process as `pool` does, so that a crash of the program is a verdict.
The project's folder travels to the workers. Without: `.git`, `.gbfix`, environments, caches, what `.gitignore` names
(Ray leaves that out) and files of more than 100 MB. gbfix itself, PyTorch and Hypothesis must be installed there.
"""

from __future__ import annotations

import importlib
import logging
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from gbfix.engine.model import GbfixError
from gbfix.equivalence.host import not_tested
from gbfix.equivalence.model import Job, Verdict
from gbfix.equivalence.pool import CHECK, Advance, run_jobs

INSTALL = "pip install 'gbfix[ray]'"

_LEFT_OUT = (".git", ".gbfix", ".hypothesis", ".venv", "venv", ".tox", ".nox", "node_modules")
_CACHES = ("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache")
_LARGEST_FILE = 100 * 1024 * 1024
_SECONDS_TO_ANSWER = 10.0
_WORDS_OF_AN_ERROR = 300


def run_on_ray(
    jobs: Sequence[Job],
    address: str,
    root: Path,
    advance: Advance = lambda _number, _stage, _done, _total: None,
    *,
    work: str = CHECK,
) -> Iterator[tuple[int, Verdict]]:
    """The verdict of each job with its number, in the order in which they end.

    address: "host:port" of a cluster that this machine is a node of, "auto" for the one that runs here, or
    "ray://host:port" from elsewhere. root: the project's folder, which travels. A check takes one CPU, and one GPU
    where its device is CUDA. work: as for `pool.run_jobs`. A worker that is lost gives "not tested" with the reason.
    Closing the iterator ends all checks. Raises GbfixError when Ray is not installed, does not answer, or its workers
    cannot check anything.
    """
    ray = _imported()
    home = os.path.realpath(root)
    _connect(ray, address, home)
    try:
        _look_at_workers(ray, address, jobs)
        yield from _verdicts(ray, jobs, home, advance, work)
    finally:
        ray.shutdown()


def check_on_worker(job: Job, home: str, folder: str, work: str = CHECK) -> Verdict:
    """One check within a Ray task, whose current folder holds the files of the folder `home`.

    folder: the current one at home, in which the check runs; an empty one stands for a folder outside of `home`. The
    verdict names files as they are called at home. Raises CheckError when nothing can be checked on this worker.
    """
    here = os.path.realpath(os.getcwd())
    with tempfile.TemporaryDirectory(prefix="gbfix-ray-") as elsewhere:
        inside = _moved(folder, home, here)
        os.chdir(inside if inside != folder else elsewhere)
        try:
            ((_, verdict),) = run_jobs([moved_job(job, home, here)], 1, work=work)
        finally:
            os.chdir(here)  # of the next task, too
    return moved_verdict(verdict, here, home)


def versions_here() -> dict[str, str]:
    """What has to be the same on all machines for the same verdicts, by name of the package."""
    return {name: _version(name) for name in ("gbfix", "torch", "hypothesis")}


def moved_job(job: Job, home: str, here: str) -> Job:
    """A job as it reads where the files of folder `home` lie in folder `here`. What Hypothesis keeps stays at home."""
    target = job.target
    return replace(
        job,
        target=replace(target, file=_moved(target.file, home, here), search=_moved(target.search, home, here)),
        original=_moved_texts(job.original, home, here),
        rewritten=_moved_texts(job.rewritten, home, here),
        settings=replace(job.settings, database=""),
    )


def moved_verdict(verdict: Verdict, here: str, home: str) -> Verdict:
    """A verdict with the folder `home` in place of `here` in all its texts."""
    return msgspec.convert(_with_text_replaced(msgspec.to_builtins(verdict), here, home), Verdict)


# -- the cluster ---------------------------------------------------------------------------------


def _imported() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise GbfixError(f"--ray: Ray is not installed here ({error}); {INSTALL}") from error


def _connect(ray: Any, address: str, home: str) -> None:  # noqa: ANN401
    """Join the cluster, and give it the project's folder. Raises GbfixError."""
    _knock(address)
    try:
        ray.init(
            address=address,
            runtime_env={"working_dir": home, "excludes": _excluded(home)},
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
    except Exception as error:  # Ray raises whatever its parts raise
        ray.shutdown()
        raise GbfixError(f"--ray {address}: {_advice(error)}") from error


def _knock(address: str) -> None:
    """Ray itself waits for minutes where nobody listens. Raises GbfixError."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        return  # "auto" and the like, which Ray looks up
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS_TO_ANSWER):
            return
    except (OSError, OverflowError) as error:
        reason = "nobody answers there; `ray status` on a machine of the cluster tells its address"
        raise GbfixError(f"--ray {address}: {reason}") from error


def _advice(error: Exception) -> str:
    text = str(error)
    if "ersion mismatch" in text:
        return f"{_one_line(error)}; run gbfix with the Python and the Ray of the cluster"
    if isinstance(error, ImportError):
        return f"{_one_line(error)}; pip install 'ray[client]'"
    if "exceed" in text and "size" in text:
        return f"{_one_line(error)}; name what need not travel in .gitignore"
    if "local Raylet" in text or "node_ip_address" in text:
        return "this machine is no node of that cluster; use ray://HOST:10001, or run gbfix on a node"
    token = "where it asks for a token, set RAY_AUTH_MODE=token"  # with an address given, Ray looks for none by itself
    return f"cannot be used: {_one_line(error)}; `ray status` tells whether the cluster runs; {token}"


def _look_at_workers(ray: Any, address: str, jobs: Sequence[Job]) -> None:  # noqa: ANN401
    """Raises GbfixError when the workers differ from this machine, or when there is no GPU for a job that needs one."""
    needs_gpu = any(_gpus(job) for job in jobs)
    if needs_gpu and not ray.cluster_resources().get("GPU"):
        raise GbfixError(f"--ray {address}: the cluster has no GPU for --device cuda")
    try:
        there = ray.get(ray.remote(versions_here).options(num_cpus=1).remote())
    except Exception as error:
        reason = f"the workers cannot run gbfix ({_one_line(error)}); install the same gbfix there"
        raise GbfixError(f"--ray {address}: {reason}") from error
    here = versions_here()
    different = [f"{name} {there.get(name)} instead of {here[name]}" for name in here if there.get(name) != here[name]]
    if different:
        raise GbfixError(f"--ray {address}: the workers have {', '.join(different)}; install the same there")


def _verdicts(
    ray: Any,  # noqa: ANN401
    jobs: Sequence[Job],
    home: str,
    advance: Advance,
    work: str,
) -> Iterator[tuple[int, Verdict]]:
    task = ray.remote(check_on_worker)
    folder = os.path.realpath(os.getcwd())
    running = {}
    for number, job in enumerate(jobs):
        # No second try: a check that takes its machine down would take down the next.
        placed = task.options(num_cpus=1, num_gpus=_gpus(job), max_retries=0)
        running[placed.remote(job, home, folder, work)] = number
        advance(number, "on the cluster", 0, 0)
    while running:
        (ended,), _ = ray.wait(list(running), num_returns=1)
        number = running.pop(ended)
        yield number, _verdict(ray, ended, jobs[number])


def _verdict(ray: Any, reference: Any, job: Job) -> Verdict:  # noqa: ANN401
    try:
        verdict = ray.get(reference)
    except Exception as error:  # of the task, or of the machine it ran on
        cause = getattr(error, "cause", None)
        if isinstance(cause, GbfixError):
            return not_tested(job, _one_line(cause))
        return not_tested(job, f"its Ray task failed: {type(error).__name__}: {_one_line(error)}")
    assert isinstance(verdict, Verdict)
    return verdict


def _gpus(job: Job) -> int:
    return 1 if job.settings.device.startswith("cuda") else 0


# -- files and texts -----------------------------------------------------------------------------


def _excluded(home: str) -> list[str]:
    """Patterns as in .gitignore, of what need not travel."""
    large = []
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if name not in (*_LEFT_OUT, *_CACHES)]
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.getsize(path) > _LARGEST_FILE:
                large.append("/" + os.path.relpath(path, home).replace(os.sep, "/"))
    return [*(f"{name}/" for name in (*_LEFT_OUT, *_CACHES)), *large]


def _moved(path: str, old: str, new: str) -> str:
    if path == old:
        return new
    return new + path[len(old) :] if path.startswith(old.rstrip(os.sep) + os.sep) else path


def _moved_texts(texts: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    return {_moved(path, old, new): text for path, text in texts.items()}


def _with_text_replaced(value: Any, old: str, new: str) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _with_text_replaced(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_text_replaced(item, old, new) for item in value]
    return value


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:_WORDS_OF_AN_ERROR]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
