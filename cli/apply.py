"""`gbfix apply`: plan the fixes, and write them or print them as a patch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gbfix.cli.failure import one_line_failures
from gbfix.cli.options import (
    AssumeCompiled,
    Exclude,
    ExitZero,
    Format,
    Ignore,
    InGraphAsserts,
    MessagesOption,
    Paths,
    Select,
    TorchVersion,
)
from gbfix.cli.output_format import OutputFormat

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the patch that would be applied; write nothing.")]
PatchFile = Annotated[
    Path | None, typer.Option("--patch", metavar="FILE", help="Write the patch to this file, and nothing else.")
]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Also apply the fixes that assume something.")]
Interactive = Annotated[bool, typer.Option("--interactive", help="Ask before each fix: yes, no, all or quit.")]
AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Also write files with uncommitted changes.")]
ToOverlay = Annotated[
    bool,
    typer.Option(
        "--overlay", help="Leave the files alone: write fixed copies, which `gbfix run` loads in their place."
    ),
]

EvidenceFile = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="What `gbfix trace` recorded. Default: .gbfix/evidence.json, for the files that did not change since.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Make only fixes that `gbfix check` finds to change nothing; runs your program's code."
    ),
]
NoEvidence = Annotated[bool, typer.Option("--no-evidence", help="Only what the source itself proves.")]


def apply(
    paths: Paths = None,
    dry_run: DryRun = False,
    patch: PatchFile = None,
    unsafe: Unsafe = False,
    interactive: Interactive = False,
    allow_dirty: AllowDirty = False,
    overlay: ToOverlay = False,
    evidence_file: EvidenceFile = None,
    no_evidence: NoEvidence = False,
    check: Check = False,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    assume_compiled: AssumeCompiled = False,
    in_graph_asserts: InGraphAsserts = False,
    messages: MessagesOption = None,
    torch: TorchVersion = None,
    exit_zero: ExitZero = False,
    output_format: Format = OutputFormat.TEXT,
) -> None:
    """Fix what can be fixed safely. With "-" the fixed program goes to standard output."""
    from dataclasses import replace

    from gbfix.cli.choices import chosen_rules, chosen_torch, preferences_of, runs_every_rule, settings_with
    from gbfix.cli.copies import check_overlay_options, write_copies
    from gbfix.cli.evidence_use import evidence_for
    from gbfix.cli.inputs import read_inputs
    from gbfix.cli.outcome import accept_all
    from gbfix.cli.progress import progress
    from gbfix.cli.report import ApplyReport, at_lines_before, exit_with_code
    from gbfix.cli.review import asking, check_answers_can_come, kinds_asked_about
    from gbfix.cli.run import Request, run
    from gbfix.cli.writing import check_patch_file, only_writable, undo_hint, write_outcome, write_patch
    from gbfix.engine.undo import undo_root

    with one_line_failures():
        check_answers_can_come(paths, interactive=interactive)
        if overlay:
            check_overlay_options(paths, dry_run=dry_run, patch=patch)
        if check:
            from gbfix.cli.apply_check import check_apply_options, checked_outcome

            check_apply_options(paths, interactive=interactive)
        settings = settings_with(select, ignore, exclude, assume_compiled, in_graph_asserts, messages)
        if patch is not None:
            check_patch_file(patch)
        rules = chosen_rules(settings)
        inputs = read_inputs(paths, settings)
        evidence = evidence_for(inputs, evidence_file, ignored=no_evidence)
        for note in evidence.notes:
            typer.echo(f"note: {note}", err=True)
        unsafe = unsafe or settings.unsafe
        keeps_files = dry_run or patch is not None
        report = ApplyReport(
            output_format,
            dry_run=dry_run,
            keeps_files=keeps_files,
            program_wanted=inputs.from_stdin and not keeps_files,
            asked=kinds_asked_about(interactive=interactive, unsafe=unsafe),
        )
        accept = asking(report.out, sys.stdin) if interactive else accept_all
        if (interactive or check) and not keeps_files and not overlay:
            accept = only_writable(accept, inputs, allow_dirty=allow_dirty)
        request = Request(
            rules,
            edit=True,
            unsafe=unsafe,
            assume_compiled=settings.assume_compiled,
            preferences=preferences_of(settings),
            report_unused=runs_every_rule(settings),
            seen=evidence.seen,
            torch=chosen_torch(torch, settings),
            accept=accept,
        )
        if check:
            outcome = checked_outcome(inputs, request, evidence.recorded)
        else:
            with progress(len(inputs.sources), quiet=interactive) as advance:
                outcome = run(inputs, replace(request, advance=advance))
        hint = None
        if overlay:
            outcome, hint = write_copies(at_lines_before(outcome), undo_root())
        elif keeps_files:
            outcome = at_lines_before(outcome)
        elif not inputs.from_stdin:
            outcome = write_outcome(outcome, allow_dirty=allow_dirty)
            hint = undo_hint(outcome)
        if patch is not None:
            write_patch(patch, outcome)
        report.print(outcome, hint)
        exit_with_code(outcome, would_change=keeps_files, exit_zero=exit_zero)
