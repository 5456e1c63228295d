"""The `gbfix` command. Commands import what they need when they run, so that start-up stays short."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from gbfix.cli.apply import apply
from gbfix.cli.check import check
from gbfix.cli.explain import explain
from gbfix.cli.fix import fix
from gbfix.cli.program import SETTINGS
from gbfix.cli.rules import rules
from gbfix.cli.run_program import run
from gbfix.cli.scan import scan
from gbfix.cli.trace import trace
from gbfix.cli.undo import undo

app = typer.Typer(
    name="gbfix",
    help="Find graph breaks in torch.compile programs and fix them in the source, in small reviewable steps.",
    epilog="Exit codes: 0 nothing to do or all done, 1 findings remain, 2 gbfix could not do its work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (scan, apply, check, undo, rules, explain):
    app.command()(command)
for command in (trace, fix, run):
    app.command(context_settings=SETTINGS)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"gbfix {version('gbfix')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Find graph breaks in torch.compile programs and fix them in the source, in small reviewable steps."""


def main() -> None:
    """Run the command line; ends the process with the exit codes of `gbfix --help`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error: a name may hold what it cannot encode
    app()
