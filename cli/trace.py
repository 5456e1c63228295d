"""`gbfix trace`: run a program under observation, and report its graph breaks and recompiles."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gbfix.cli.failure import one_line_failures
from gbfix.cli.program import Command
from gbfix.cli.report_format import ReportFormat

if TYPE_CHECKING:
    from gbfix.evidence.model import Evidence

Saved = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="PATH",
        help="Run nothing: read a TORCH_TRACE folder or file, saved TORCH_LOGS text, or evidence.json.",
    ),
]
Format = Annotated[ReportFormat, typer.Option("--output-format", help="How the report is written.")]
OutputFile = Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write the report to this file.")]
EvidenceFile = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="Where the evidence is kept. Default: .gbfix/evidence.json, with --overlay .gbfix/evidence-overlay.json.",
    ),
]
NoValues = Annotated[bool, typer.Option("--no-values", help="Do not record what names hold at branches.")]
WithOverlay = Annotated[
    bool, typer.Option("--overlay", help="Load the copies of `gbfix apply --overlay`, as `gbfix run` does.")
]
Top = Annotated[int, typer.Option("--top", min=1, metavar="N", help="Rows shown of each list; the rest is counted.")]


def trace(
    command: Command = None,
    saved: Saved = None,
    output_format: Format = ReportFormat.TEXT,
    output: OutputFile = None,
    evidence_file: EvidenceFile = None,
    no_values: NoValues = False,
    overlay: WithOverlay = False,
    top: Top = 20,
) -> None:
    """Run a program as it is, and rank what splits its graphs and what is compiled again.

    For example: gbfix trace -- train.py --epochs 1. What follows CMD belongs to it, options too. The program's output
    is left alone: the text report goes to standard error after it, json and github to standard output. The exit
    status is the program's own; 2 when gbfix failed and the program did not.
    """
    from gbfix.cli.choices import chosen_rules, preferences_of, settings_with
    from gbfix.cli.evidence_output import print_report
    from gbfix.cli.evidence_report import report_of
    from gbfix.cli.evidence_source import check_choice
    from gbfix.cli.evidence_target import check_writable
    from gbfix.cli.observed_run import ending_like

    with one_line_failures():
        check_choice(command, saved)
        settings = settings_with(None, None, None, assume_compiled=False)
        rules, preferences = chosen_rules(settings), preferences_of(settings)
        if output is not None:
            check_writable(output, "--output report.txt")

        def show(evidence: Evidence, document: Path) -> None:
            report = report_of(evidence, rules, document, preferences)
            print_report(report, output_format, top=top, output=output, was_run=saved is None)

        if saved is not None:
            with ending_like(0):  # whatever is in the file, it is no reason for a traceback
                _read(saved, evidence_file, show)
        else:
            _run(command or [], evidence_file, show, values=not no_values, overlay=overlay)


def _read(saved: Path, evidence_file: Path | None, show: Callable[[Evidence, Path], None]) -> None:
    """Report on what was saved; traces and logs become evidence on disk, too."""
    from gbfix.cli.evidence_source import is_evidence, read_saved
    from gbfix.cli.evidence_target import evidence_target, project_root
    from gbfix.evidence.store import save_evidence

    root = project_root()
    evidence = read_saved(saved, root)
    document = saved
    if evidence_file is not None or not is_evidence(saved):
        document = evidence_target(evidence_file, root)
        save_evidence(evidence, document)
    show(evidence, document)


def _run(
    command: Sequence[str],
    evidence_file: Path | None,
    show: Callable[[Evidence, Path], None],
    *,
    values: bool,
    overlay: bool,
) -> None:
    """Run the command, keep what it showed, and report on it. Raises typer.Exit with the command's exit status."""
    from gbfix.cli.evidence_target import evidence_target, project_root
    from gbfix.cli.observed_run import ending_like, evidence_of_run, journal_folder, keep_evidence
    from gbfix.cli.run_program import not_in_force
    from gbfix.evidence.launch import observed_environment, resolve_command, run_program
    from gbfix.evidence.overlay import MANIFEST, check_overlay, overlay_folder

    root = project_root()
    words = resolve_command(command)
    target = evidence_target(evidence_file, root, overlay=overlay)
    copies = check_overlay(overlay_folder(root)) if overlay else ()
    manifest = overlay_folder(root) / MANIFEST if overlay else None
    with journal_folder() as journals:
        environment = observed_environment(os.environ, journals=journals, overlay=manifest, values=values)
        started = time.time()
        status = run_program(words, environment)
        for line in not_in_force(copies, journals) if overlay else ():
            typer.echo(f"gbfix: {line}", err=True)
        with ending_like(status.code):
            evidence = keep_evidence(evidence_of_run(journals, root, words, status, started), target)
            show(evidence, target)
    raise typer.Exit(status.code)
