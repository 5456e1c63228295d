"""Running a program under observation, and folding what its processes wrote down into evidence."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import typer

from gbfix.cli.failure import FAILED, internal_error
from gbfix.cli.names import display_name
from gbfix.engine.model import GbfixError
from gbfix.evidence.hashes import without_changed
from gbfix.evidence.launch import ExitStatus
from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import journal_notes, read_evidence
from gbfix.evidence.store import save_evidence


@contextmanager
def journal_folder() -> Iterator[Path]:
    """A folder for the notes of the program's processes, gone at the end. One of them may still be writing there."""
    with tempfile.TemporaryDirectory(prefix="gbfix-trace-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def ending_like(exit_status: int) -> Iterator[None]:
    """Whatever fails in gbfix after the program ended is told in one line, and the program's own status is kept.

    Only where the program succeeded, the failure is exit 2.
    """
    try:
        yield
    except (GbfixError, OSError) as error:
        for line in str(error).splitlines():
            typer.echo(f"error: {line}", err=True)
        raise typer.Exit(exit_status or FAILED) from error
    except Exception as error:
        typer.echo(f"error: {internal_error('the report', error)}", err=True)
        raise typer.Exit(exit_status or FAILED) from error


def keep_evidence(evidence: Evidence, document: Path) -> Evidence:
    """Save the evidence; returns it with what the user should know about that. Raises WriteError.

    A run in which PyTorch was not imported, such as one whose command was misspelt, shows nothing: the document of an
    earlier run is left as it is.
    """
    if document.exists() and not any(process.torch for process in evidence.processes):
        kept = f"{display_name(document)} is left as an earlier run wrote it"
        return replace(evidence, problems=(*evidence.problems, kept))
    save_evidence(evidence, document)
    return evidence


def evidence_of_run(journals: Path, root: Path, command: Sequence[str], status: ExitStatus, started: float) -> Evidence:
    """Fold the notes of a run that has ended. Raises OSError when they cannot be read.

    `started`: when it began, in seconds since the epoch; a file that changed since is not what was run.
    """
    evidence = read_evidence(journal_notes(journals), root=root, command=command, exit_status=status.code)
    evidence = without_changed(evidence, started, "while the program ran")
    if not status.signal:
        return evidence
    return replace(evidence, problems=(f"the program was ended by {status.signal}", *evidence.problems))
