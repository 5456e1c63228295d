"""What `gbfix scan` does, without its command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gbfix.cli.failure import one_line_failures
from gbfix.cli.output_format import OutputFormat

if TYPE_CHECKING:
    from gbfix.analysis.preferences import Messages


def scan_paths(
    paths: Sequence[str] | None,
    *,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    exclude: list[str] | None = None,
    assume_compiled: bool = False,
    in_graph_asserts: bool = False,
    messages: Messages | None = None,
    torch: str | None = None,
    exit_zero: bool = False,
    jobs: int | None = None,
    no_cache: bool = False,
    output_format: OutputFormat = OutputFormat.TEXT,
) -> None:
    """Report what breaks graphs below the paths. The options are those of the command.

    Raises SystemExit with 1 when there are findings, with 2 for what could not be looked at.
    """
    with one_line_failures():
        from gbfix.cli.choices import chosen_rules, chosen_torch, preferences_of, runs_every_rule, settings_with
        from gbfix.cli.inputs import find_files, read_inputs
        from gbfix.cli.progress import progress
        from gbfix.cli.report import exit_with_code, print_scan
        from gbfix.cli.run import Request, run
        from gbfix.cli.scan_files import scan_files, scan_or_recall
        from gbfix.cli.survey import default_jobs

        settings = settings_with(select, ignore, exclude, assume_compiled, in_graph_asserts, messages)
        rules = chosen_rules(settings)
        inputs = read_inputs(paths, settings) if "-" in (paths or ()) else None
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
                outcome = (scan_files if no_cache else scan_or_recall)(found, request, jobs or default_jobs())
            elif inputs is not None:
                outcome = run(inputs, request)
        print_scan(outcome, output_format)
        exit_with_code(outcome, exit_zero=exit_zero)
