"""What `gbfix check` works on: the recorded run, the fixes that are pending, and from these the jobs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from gbfix.cli.check_plan import Planned, Planner, Wanted
from gbfix.cli.check_versions import Changes, pending
from gbfix.cli.choices import chosen_rules, chosen_torch, preferences_of
from gbfix.cli.evidence_use import evidence_for
from gbfix.cli.inputs import Inputs, read_inputs
from gbfix.cli.names import display_name
from gbfix.cli.progress import progress
from gbfix.cli.run import Request, run
from gbfix.engine.config import Settings
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.evidence.model import Evidence
from gbfix.evidence.store import find_evidence, load_evidence

_NEEDED = {"torch": "PyTorch", "hypothesis": "Hypothesis"}


@dataclass(frozen=True)
class Recorded:
    """Which recorded run is used: the file that was named, else the usual one; with `ignored` none."""

    named: Path | None = None
    ignored: bool = False


@dataclass(frozen=True)
class Fixes:
    """Which fixes `gbfix apply` would make, by the options that both commands have."""

    settings: Settings
    unsafe: bool


def check_installed() -> None:
    """Raise ConfigurationError when what runs the checks is not there; nothing of it is imported here."""
    if sys.platform == "win32":
        raise ConfigurationError("gbfix check needs process groups, which Windows has not; run it in WSL")
    for module, name in _NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise ConfigurationError(f"{name} is not installed for this Python: pip install {module}")


def plan(wanted: Wanted, fixes: Fixes, recorded: Recorded, root: Path) -> tuple[Planned, ...]:
    """What is to be checked. Raises GbfixError for what the user named and is not there or cannot be used."""

    def find_pending(files: Iterable[Path]) -> Changes:
        return _pending(fixes, recorded, files)

    return Planner(wanted, root, _recorded_run(recorded, root), find_pending).plans()


def _recorded_run(recorded: Recorded, root: Path) -> Evidence | None:
    """The recorded run; None when there is none, or none that can be used and nobody named it (a note tells why).

    Raises GbfixError for one that was named and cannot be used.
    """
    if recorded.ignored:
        return None
    path = recorded.named or find_evidence(root)
    if recorded.named is None and not path.exists():
        return None
    try:
        return load_evidence(path)
    except GbfixError as error:
        if recorded.named is not None:
            raise
        typer.echo(f"note: the recorded run is not used: {error}", err=True)
        return None


def _pending(fixes: Fixes, recorded: Recorded, files: Iterable[Path]) -> Changes:
    """What `gbfix apply` would write to the files of this folder, and to these."""
    settings = fixes.settings
    inputs = read_inputs([".", *(display_name(file) for file in files)], settings)
    evidence = evidence_for(inputs, recorded.named, ignored=recorded.ignored)
    with progress(len(inputs.sources)) as advance:
        request = Request(
            chosen_rules(settings),
            edit=True,
            unsafe=fixes.unsafe,
            assume_compiled=settings.assume_compiled,
            preferences=preferences_of(settings),
            report_unused=False,
            seen=evidence.seen,
            torch=chosen_torch(None, settings),
            advance=advance,
        )
        outcome = run(Inputs(inputs.sources, ()), request)
    for problem in outcome.problems:
        typer.echo(f"note: {problem}", err=True)
    return pending(outcome)
