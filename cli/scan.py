"""`gbfix scan`: findings from the source alone."""

from __future__ import annotations

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
    OutputFormat,
    Paths,
    Select,
    TorchVersion,
)

Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, metavar="N", help="In how many processes many files are read. Default: one a processor."
    ),
]

NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither use nor keep what a scan of the same contents found.")
]


def scan(
    paths: Paths = None,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    assume_compiled: AssumeCompiled = False,
    in_graph_asserts: InGraphAsserts = False,
    messages: MessagesOption = None,
    torch: TorchVersion = None,
    exit_zero: ExitZero = False,
    jobs: Jobs = None,
    no_cache: NoCache = False,
    output_format: Format = OutputFormat.TEXT,
) -> None:
    """Report what breaks graphs, from the source alone. Exits 1 when there are findings."""
    from gbfix.cli.inputs import find_files, read_inputs
    from gbfix.cli.options import chosen_rules, chosen_torch, preferences_of, runs_every_rule, settings_with
    from gbfix.cli.progress import progress
    from gbfix.cli.report import exit_with_code, print_scan
    from gbfix.cli.run import Request, run
    from gbfix.cli.scan_files import scan_files, scan_or_recall
    from gbfix.cli.survey import default_jobs

    with one_line_failures():
        settings = settings_with(select, ignore, exclude, assume_compiled, in_graph_asserts, messages)
        rules = chosen_rules(settings)
        from_stdin = "-" in (paths or ())
        inputs = read_inputs(paths, settings) if from_stdin else None
        found = find_files(paths, settings) if inputs is None else None
        with progress(len(found.files) if found is not None else 1) as advance:
            request = Request(
                rules,
                edit=False,
                assume_compiled=settings.assume_compiled,
                preferences=preferences_of(settings),
                report_unused=runs_every_rule(settings),
                torch=chosen_torch(torch, settings),
                advance=advance,
            )
            if found is not None:
                work = scan_files if no_cache else scan_or_recall
                outcome = work(found, request, jobs or default_jobs())
            elif inputs is not None:
                outcome = run(inputs, request)
        print_scan(outcome, output_format)
        exit_with_code(outcome, exit_zero=exit_zero)
