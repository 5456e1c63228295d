"""Running the checks: side by side, those that were made before left out, every verdict kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from gbfix.cli.check_plan import Planned
from gbfix.cli.check_progress import check_progress
from gbfix.cli.names import display_name
from gbfix.engine.data_folder import data_folder, refuse_link
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import WriteError
from gbfix.engine.paths import printable
from gbfix.equivalence.model import CheckError, CheckReport, Job, Status, Verdict
from gbfix.equivalence.pool import Advance, run_jobs
from gbfix.equivalence.store import load_verdicts, reusable, save_verdict


@dataclass(frozen=True)
class Checks:
    """How checks are run in a project. ray: the address of a cluster, empty for this machine."""

    root: Path
    workers: int = 1
    ray: str = ""
    rerun: bool = False

    def run(self, plans: Sequence[Planned]) -> CheckReport:
        """Give every target its verdict. Raises GbfixError when nothing can be checked here."""
        plans = [plan for plan in plans if plan.job or plan.problem]
        verdicts = [self._known(plan) for plan in plans]
        left = [number for number, verdict in enumerate(verdicts) if verdict is None]
        for number, verdict in self._checked([plans[number] for number in left]):
            verdicts[left[number]] = verdict
        done = sorted((verdict for verdict in verdicts if verdict is not None), key=lambda verdict: verdict.target)
        return CheckReport(str(self.root), verdicts=tuple(done))

    def _known(self, plan: Planned) -> Verdict | None:
        """The verdict without a check: it was made before, or there is no way to make it."""
        if plan.job is None:
            return Verdict(plan.name, Status.NOT_TESTED, plan.problem, versions=plan.versions)
        if self.rerun or plan.job.settings.bench:
            return None
        known = reusable(load_verdicts(self.root), plan.key)
        if known is None:
            return None
        return replace(known, earlier=True, bench=None, versions=plan.versions, fixes=plan.job.fixes)

    def _checked(self, plans: Sequence[Planned]) -> Iterator[tuple[int, Verdict]]:
        jobs = [plan.job for plan in plans if plan.job is not None]
        if not jobs:
            return
        notes: dict[str, None] = {}
        with check_progress([job.target.name for job in jobs]) as progress:
            for number, verdict in self._verdicts(jobs, progress.advance):
                plan = plans[number]
                verdict = replace(verdict, versions=plan.versions, key=plan.key)
                notes.update(self._kept(verdict))
                progress.done(number, verdict)
                yield number, verdict
        for note in notes:
            typer.echo(f"note: {note}", err=True)

    def _kept(self, verdict: Verdict) -> dict[str, None]:
        """Keep a verdict with its program; what could not be written is no reason to lose the report."""
        try:
            save_verdict(self.root, verdict)
            if verdict.counterexample is not None:
                _save_program(counterexample_file(self.root, verdict), verdict.counterexample.program)
        except WriteError as error:
            return {str(error): None}
        return {}

    def _verdicts(self, jobs: Sequence[Job], advance: Advance) -> Iterator[tuple[int, Verdict]]:
        if self.ray:
            from gbfix.equivalence.ray_cluster import run_on_ray

            return run_on_ray(jobs, self.ray, self.root, advance)
        return run_jobs(jobs, self.workers, advance)


def write_tests(report: CheckReport, plans: Sequence[Planned], file: Path) -> None:
    """Write a test file that pins what was found equal; what was not is named.

    Raises CheckError when there is nothing to pin or a target cannot be pinned, and WriteError.
    """
    from gbfix.equivalence.write_test import write_test

    jobs = {plan.job.target.name: plan.job for plan in plans if plan.job is not None and plan.job.target.attribute}
    pinned = [(jobs[each.target], each) for each in report.verdicts if each.target in jobs and is_equal(each)]
    if not pinned:
        raise CheckError(f"{display_name(file)}: not written, since nothing was found equal that a test could pin")
    write_test(pinned, file)
    for verdict in report.verdicts:
        if not is_equal(verdict):
            typer.echo(f"note: no test for {verdict.target}, which is {verdict.status.value}", err=True)
    typer.echo(f"wrote {display_name(file)}; run it with: pytest {display_name(file)}", err=True)


def is_equal(verdict: Verdict) -> bool:
    """True when both versions were shown to be the same: no side of a condition was left out."""
    equal = verdict.status in (Status.EQUAL, Status.CLOSE)
    return equal and not any(branch.missing for branch in verdict.branches)


def counterexample_file(root: Path, verdict: Verdict) -> Path:
    """Where the program that shows a difference is kept."""
    name = "".join(letter if letter.isalnum() or letter in "._-" else "." for letter in verdict.target)
    return root / ".gbfix" / "counterexamples" / f"{name.strip('.')}.py"


def _save_program(file: Path, text: str) -> None:
    data_folder(file.parents[2])
    refuse_link(file.parent)
    refuse_link(file)
    try:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WriteError(f"{printable(file)}: the program cannot be written: {error.strerror}") from error
