"""`gbfix apply --check` of fixes that a recorded run called for: the command runs once more with them in force.

A mark stands in code that no check of a compiled function runs, and whether it saves a compilation shows only where the
calls are made as they are in the program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import typer

from gbfix.analysis.project import Project
from gbfix.analysis.recompiles import Line
from gbfix.analysis.source import parse
from gbfix.cli.check_facts import Refusal
from gbfix.cli.evidence_recompiles import compiles_of
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Outcome
from gbfix.cli.rerun import Rerun, rerun
from gbfix.codemods._recompiled import Recompiled, recompiled_functions
from gbfix.engine.atomic import Rewrite
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import encode_source
from gbfix.evidence.model import Evidence
from gbfix.evidence.overlay import no_overlay_reason
from gbfix.evidence.places import Places

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
    typer.echo(f"note: trying the marks with: {' '.join(map(display, evidence.command))}", err=True)
    root, folder = Path(evidence.root), _folder(evidence)
    again = rerun(evidence.command, root, rewrites, folder=folder, values=False, seconds=seconds)
    if again.status is None:
        return Trial({}, f"the recorded command was not done after {seconds:.0f} seconds")
    return trial_of(again, evidence.exit_status or 0, outcome)


def trial_of(again: Rerun, before: int, outcome: Outcome) -> Trial:
    """What a run with an outcome came to; before: the exit status without it."""
    names = _names(Path(again.evidence.root), outcome)
    compiles = {
        (Line(names.get(place.file, place.file), place.line), place.function, entry): count
        for (place, entry), count in compiles_of(again.evidence).items()
    }
    if again.status == before:
        return Trial(compiles)
    reason = f"with it the recorded command ends with status {again.status} instead of {before}: "
    return Trial(compiles, reason + last_line(again.text), failed=True)


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


def _names(root: Path, outcome: Outcome) -> dict[str, str]:
    """What the files of the trial's evidence are called in the project."""
    places = Places(root)
    return {places.file(os.path.realpath(file.source.path)): file.name for file in outcome.files}


def last_line(text: str) -> str:
    """The line of a program's output that tells best why it failed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "it wrote nothing")
    return told[:_LONGEST_ERROR]
