"""`gbfix run`: a program with the copies of the overlay in place of their originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gbfix.cli.failure import one_line_failures
from gbfix.cli.program import Command

if TYPE_CHECKING:
    from gbfix.evidence.overlay import OverlaidFile


def run(command: Command = None) -> None:
    """Run a program with the fixed copies that `gbfix apply --overlay` made, in place of the files themselves.

    For example: gbfix run -- train.py --epochs 1. The exit status is the program's own; 2 when a file changed since
    its copy was made. Copies that the program never loaded are named at the end. Removing the folder .gbfix/overlay
    drops all copies.
    """
    import os
    from tempfile import TemporaryDirectory

    from gbfix.cli.evidence_target import project_root
    from gbfix.engine.model import ConfigurationError
    from gbfix.evidence.launch import observed_environment, resolve_command, run_program
    from gbfix.evidence.overlay import MANIFEST, check_overlay, overlay_folder
    from gbfix.evidence.overlay_hook import NOTES

    with one_line_failures():
        if not command:
            raise ConfigurationError("no command given; write for example: gbfix run -- train.py --epochs 1")
        words = resolve_command(command)
        folder = overlay_folder(project_root())
        files = check_overlay(folder)
        with TemporaryDirectory(prefix="gbfix-run-", ignore_cleanup_errors=True) as notes:
            environment = observed_environment(os.environ, overlay=folder / MANIFEST)
            status = run_program(words, {**environment, NOTES: notes})
            for line in not_in_force(files, Path(notes)):
                typer.echo(f"gbfix: {line}", err=True)
        raise typer.Exit(status.code)


def not_in_force(files: Sequence[OverlaidFile], notes: Path) -> Iterator[str]:
    """What a user must know who believes that every copy was tried: one line for each that was not."""
    from gbfix.cli.names import display_name
    from gbfix.evidence.journal import SUFFIX, read_journal

    journals = sorted(notes.glob(f"*{SUFFIX}"))
    if not journals:
        yield "no Python process started with the overlay; -I, -E, -S and a PYTHONPATH of its own keep it out"
    written: list[dict[str, Any]] = [note for journal in journals for note in read_journal(journal)]
    yield from dict.fromkeys(note["message"] for note in written if note["kind"] == "problem")
    met = {note.get("original") for note in written}
    for file in files:
        if file.original not in met:
            yield f"{display_name(Path(file.original))}: never loaded, so its copy in the overlay was not tried"
