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
    output_format: OutputFormat = OutputFormat.TEXT,
) -> None:
    """Report what breaks graphs below the paths. The options are those of the command.

    Raises SystemExit with 1 when there are findings, with 2 for what could not be looked at.
    """
    with one_line_failures():
        from gbfix.cli.choices import chosen_rules, chosen_torch, preferences_of, runs_every_rule, settings_with
        from gbfix.cli.inputs import read_inputs
        from gbfix.cli.progress import progress
        from gbfix.cli.report import exit_with_code, print_scan
        from gbfix.cli.run import Request, run

        settings = settings_with(select, ignore, exclude, assume_compiled, in_graph_asserts, messages)
        rules = chosen_rules(settings)
        inputs = read_inputs(paths, settings)
        with progress(len(inputs.sources)) as advance:
            request = Request(
                rules,
                edit=False,
                assume_compiled=settings.assume_compiled,
                preferences=preferences_of(settings),
                report_unused=runs_every_rule(settings),
                torch=chosen_torch(torch, settings),
                advance=advance,
            )
            outcome = run(inputs, request)
        print_scan(outcome, output_format)
        exit_with_code(outcome, exit_zero=exit_zero)
