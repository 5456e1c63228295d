"""The Typer application. A command is loaded when it is asked for: building all of them takes longer than most runs."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gbfix.cli.program import SETTINGS
from gbfix.cli.version import version_line

_PLAIN: dict[str, Any] = {}
_COMMANDS = {
    "scan": ("scan", _PLAIN),
    "apply": ("apply", _PLAIN),
    "check": ("check", _PLAIN),
    "undo": ("undo", _PLAIN),
    "rules": ("rules", _PLAIN),
    "explain": ("explain", _PLAIN),
    "trace": ("trace", SETTINGS),
    "fix": ("fix", SETTINGS),
    "run": ("run_program", SETTINGS),
}
"""The commands in the order of the help: the module of `gbfix.cli` that holds each, and how it reads its arguments."""


class _Commands(UserDict[str, Any]):
    """The commands of the group by name; one is its module's until somebody looks it up."""

    def __getitem__(self, name: str) -> TyperCommand:
        command: TyperCommand | None = self.data[name]
        if command is None:
            command = self.data[name] = _loaded(name)
        return command


class _Group(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.commands = _Commands(dict.fromkeys(_COMMANDS))


def _loaded(name: str) -> TyperCommand:
    module, settings = _COMMANDS[name]
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, context_settings=settings)(getattr(import_module(f"gbfix.cli.{module}"), name))
    command = typer.main.get_command(alone)
    assert isinstance(command, TyperCommand)
    return command


app = typer.Typer(
    name="gbfix",
    cls=_Group,
    help="Find graph breaks in torch.compile programs and fix them in the source, in small reviewable steps.",
    epilog="Exit codes: 0 nothing to do or all done, 1 findings remain, 2 gbfix could not do its work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version_line())
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Find graph breaks in torch.compile programs and fix them in the source, in small reviewable steps."""
