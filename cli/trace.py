"""`gbfix trace`: run a program under observation, and report its graph breaks and recompiles."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from gbfix.cli.failure import one_line_failures
from gbfix.cli.report_format import ReportFormat

SETTINGS = {"allow_interspersed_args": False}
"""Everything from the first word of the command on belongs to the command, options too."""

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- CMD",
        help="What to run: a script or -m MODULE, with the Python of gbfix, or a program such as pytest or torchrun; "
        "then its arguments.",
    ),
]
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
    typer.Option("--evidence", metavar="FILE", help="Where the evidence is kept. Default: .gbfix/evidence.json."),
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
    from gbfix.cli.evidence_output import print_report
    from gbfix.cli.evidence_report import report_of
    from gbfix.cli.evidence_source import check_choice, is_evidence, read_saved
    from gbfix.cli.evidence_target import check_writable, evidence_target, project_root
    from gbfix.cli.observed_run import ending_like, evidence_of_run, journal_folder, keep_evidence
    from gbfix.cli.options import chosen_rules, settings_with
    from gbfix.cli.run_program import not_in_force
    from gbfix.evidence.launch import observed_environment, resolve_command, run_program
    from gbfix.evidence.overlay import MANIFEST, check_overlay, overlay_folder
    from gbfix.evidence.store import save_evidence

    with one_line_failures():
        check_choice(command, saved)
        rules = chosen_rules(settings_with(None, None, None, assume_compiled=False))
        root = project_root()
        if output is not None:
            check_writable(output, "--output report.txt")
        if saved is not None:
            evidence = read_saved(saved, root)
            document = saved
            if evidence_file is not None or not is_evidence(saved):
                document = evidence_target(evidence_file, root)
                save_evidence(evidence, document)
            print_report(report_of(evidence, rules, document), output_format, top=top, output=output, was_run=False)
            return
        words = resolve_command(command or [])
        target = evidence_target(evidence_file, root)
        copies = check_overlay(overlay_folder(root)) if overlay else ()
        manifest = overlay_folder(root) / MANIFEST if overlay else None
        with journal_folder() as journals:
            environment = observed_environment(os.environ, journals=journals, overlay=manifest, values=not no_values)
            started = time.time()
            status = run_program(words, environment)
            for line in not_in_force(copies, journals) if overlay else ():
                typer.echo(f"gbfix: {line}", err=True)
            with ending_like(status.code):
                evidence = keep_evidence(evidence_of_run(journals, root, words, status, started), target)
                print_report(report_of(evidence, rules, target), output_format, top=top, output=output, was_run=True)
        raise typer.Exit(status.code)
