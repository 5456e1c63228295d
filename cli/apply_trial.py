"""`gbfix apply --check` of fixes that a recorded run called for: the command runs once more with them in force.

A mark stands in code that no check of a compiled function runs, and whether it saves a compilation shows only where the
calls are made as they are in the program.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from gbfix.analysis.project import Project
from gbfix.analysis.recompiles import Line
from gbfix.analysis.source import parse
from gbfix.cli.check_facts import Refusal
from gbfix.cli.evidence_recompiles import compiles_of
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Outcome
from gbfix.codemods._recompiled import Recompiled, recompiled_functions
from gbfix.engine.atomic import Rewrite
from gbfix.engine.files import encode_source
from gbfix.engine.model import GbfixError
from gbfix.evidence.launch import observed_environment
from gbfix.evidence.model import Evidence
from gbfix.evidence.overlay import MANIFEST, no_overlay_reason, overlay_folder, write_overlay
from gbfix.evidence.places import Places
from gbfix.evidence.reader import journal_notes, read_evidence

SAVED = "a trial run compiles it less often"
"""The claim that a trial decides."""

_LONGEST_ERROR = 200


@dataclass(frozen=True)
class Trial:
    """What a run with the fixes came to.

    compiles: how often each code object was compiled for each entry, by where it now stands and its bare name.

    problem: why there was no such run, or why it says nothing; empty otherwise.
    """

    compiles: Mapping[tuple[Line, str, str], int]
    problem: str = ""
    failed: bool = False
    """True when the program ended in another way than it did without the fixes."""


def run_trial(evidence: Evidence, outcome: Outcome, seconds: float) -> Trial:
    """Run the recorded command with what an outcome would write. Raises GbfixError when copies cannot be made."""
    if problem := _not_repeatable(evidence):
        return Trial({}, problem)
    changed = [file for file in outcome.files if file.changed]
    for file in changed:
        if reason := no_overlay_reason(file.source.path):
            return Trial({}, f"{file.name} {reason}")
    rewrites = [
        Rewrite(
            Path(os.path.realpath(f.source.path)),
            encode_source(f.source, f.source.text),
            encode_source(f.source, f.after),
        )
        for f in changed
    ]
    with tempfile.TemporaryDirectory(prefix="gbfix-trial-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        copies = write_overlay(folder, rewrites).copies
        journals = folder / "journals"
        journals.mkdir()
        environment = observed_environment(
            os.environ, journals=journals, overlay=overlay_folder(folder) / MANIFEST, values=False
        )
        typer.echo(f"note: trying the marks with: {' '.join(map(display, evidence.command))}", err=True)
        status, text = _run(evidence, environment, folder / "output", seconds)
        if status is None:
            return Trial({}, f"the recorded command was not done after {seconds:.0f} seconds")
        seen = read_evidence(journal_notes(journals), root=Path(evidence.root))
        names = _names(Path(evidence.root), copies, outcome)
        compiles = {
            (Line(names.get(place.file, place.file), place.line), place.function, entry): count
            for (place, entry), count in compiles_of(seen).items()
        }
    if status != (evidence.exit_status or 0):
        before = evidence.exit_status or 0
        reason = f"with it the recorded command ends with status {status} instead of {before}: {_last_line(text)}"
        return Trial(compiles, reason, failed=True)
    return Trial(compiles)


def display(word: str) -> str:
    """A word of a command as the user would write it."""
    return display_name(Path(word)) if os.path.isabs(word) else word


def verdict(trial: Trial, one: Recompiled, after: Project) -> str | Refusal:
    """How often a function is compiled less, in words, or why its fixes are not made. after: the project with them."""
    if trial.problem:
        return Refusal(SAVED, trial.problem if trial.failed else f"not tested: {trial.problem}")
    count = _compiles(trial, one, after)
    if count == 0:
        return Refusal(SAVED, f"not tested: the trial run never compiled {one.name}")
    if count >= one.compiles:
        return Refusal(
            SAVED,
            f"it compiled {one.name} {_times(count)}, {_times(one.compiles)} without",
            "the program fixes the size: it computes with it, or with another tensor of that size; leave it as it is "
            "while there are few sizes, or pad to a few in the caller",
        )
    return f"the recorded command compiled {one.name} {_times(count)}, {_times(one.compiles)} without"


def _compiles(trial: Trial, one: Recompiled, after: Project) -> int:
    """How often the function was compiled in the trial; code outside of the project only for its own entry."""
    if one.function is None:
        entry = one.entry.function if one.entry is not None else ""
        return trial.compiles.get((one.row.at, one.row.function, entry), 0)
    same = [other for other in recompiled_functions(after) if (other.path, other.name) == (one.path, one.name)]
    at = same[0].row.at if len(same) == 1 else None
    return sum(n for (line, name, _), n in trial.compiles.items() if (line, name) == (at, one.row.function))


def with_outcome(project: Project, outcome: Outcome) -> Project:
    """The project with what an outcome would write."""
    for file in outcome.files:
        if file.changed:
            project = project.with_file(parse(file.name, file.after))
    return project


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _not_repeatable(evidence: Evidence) -> str:
    if evidence.mode != "run" or not evidence.command:
        return "the evidence is of a saved trace, which names no command to run again"
    if _folder(evidence) is None:
        return f"the recorded command cannot be run from here: {display(evidence.command[-1])} is not found"
    return ""


def _folder(evidence: Evidence) -> Path | None:
    """The folder that the command was given in, as far as its script tells."""
    scripts = [word for word in evidence.command[1:2] if word.endswith((".py", ".pyw", ".pyz"))]
    for folder in (Path.cwd(), Path(evidence.root)):
        if all((folder / script).exists() for script in scripts):
            return folder
    return None


def _run(evidence: Evidence, environment: Mapping[str, str], output: Path, seconds: float) -> tuple[int | None, str]:
    """The exit status, None when there was no time left, and what the command wrote."""
    with output.open("w+b") as file:
        try:
            child = subprocess.Popen(
                evidence.command,
                cwd=_folder(evidence),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise GbfixError(f"{evidence.command[0]}: cannot be started: {error.strerror or error}") from error
        with _ended(child):
            try:
                code: int | None = child.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
        file.seek(0)
        text = file.read().decode(errors="replace")
    return (128 - code if code is not None and code < 0 else code), text


@contextmanager
def _ended(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever happens, the command and what it started do not outlive this."""
    try:
        yield
    finally:
        if child.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
            child.wait()


def _names(root: Path, copies: Mapping[Path, Path], outcome: Outcome) -> dict[str, str]:
    """What the files of the trial's evidence are called in the project."""
    places = Places(root)
    names = {places.file(os.path.realpath(file.source.path)): file.name for file in outcome.files}
    for file in outcome.files:
        copy = copies.get(Path(os.path.realpath(file.source.path)))
        if copy is not None:
            names[places.file(str(copy))] = file.name
    return names


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "it wrote nothing")
    return told[:_LONGEST_ERROR]
