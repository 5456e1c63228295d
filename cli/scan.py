"""`gbfix scan`: findings from the source alone."""

from __future__ import annotations

from typing import Annotated

import typer

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
from gbfix.cli.scanning import scan_paths

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
    scan_paths(
        paths,
        select=select,
        ignore=ignore,
        exclude=exclude,
        assume_compiled=assume_compiled,
        in_graph_asserts=in_graph_asserts,
        messages=messages,
        torch=torch,
        exit_zero=exit_zero,
        jobs=jobs,
        no_cache=no_cache,
        output_format=output_format,
    )
