"""`gbfix scan`: findings from the source alone."""

from __future__ import annotations

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
    output_format: Format = OutputFormat.TEXT,
) -> None:
    """Report what breaks graphs, from the source alone. Exits 1 when there are findings."""
    from gbfix.cli.inputs import read_inputs
    from gbfix.cli.options import chosen_rules, chosen_torch, preferences_of, runs_every_rule, settings_with
    from gbfix.cli.progress import progress
    from gbfix.cli.report import exit_with_code, print_scan
    from gbfix.cli.run import Request, run

    with one_line_failures():
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
