"""What a host does with a job: a target is checked by calling it, a test of the project by running it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gbfix.equivalence.model import Job, Target, Verdict


def target_of_test(test_id: str, file: Path, folder: Path) -> Target:
    """A pytest test as a target: without an attribute, `search` being the folder from which its id is meant."""
    return Target(test_id, str(file), "", str(folder), "")


def work(job: Job, progress: Callable[[str, int, int], None]) -> Verdict:
    """Check a job. Raises GbfixError for a test that is not there."""
    if job.target.attribute:
        import torch

        from gbfix.equivalence.check import check

        torch.set_num_threads(1)  # arguments are small, and the versions work on the other processors
        return check(job, progress)
    from gbfix.equivalence.pytest_runs import check_test

    progress("running the test", 0, 0)
    return check_test(job.target.name, job.original, job.rewritten, job.settings, Path(job.target.search))
