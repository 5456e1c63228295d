"""How the options that several commands share meet the configuration. Needs no Typer, which is slow to load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gbfix.analysis.preferences import Messages

if TYPE_CHECKING:
    from gbfix.analysis.capabilities import Torch
    from gbfix.analysis.preferences import Preferences
    from gbfix.engine.config import Settings
    from gbfix.engine.model import Rule


def settings_with(
    select: list[str] | None,
    ignore: list[str] | None,
    exclude: list[str] | None,
    assume_compiled: bool,
    in_graph_asserts: bool = False,
    messages: Messages | None = None,
) -> Settings:
    """The configuration that is in force here, with the options of the command on top.

    `--select` replaces the configured selection; `--ignore` and `--exclude` add to theirs. Raises ConfigurationError.
    """
    from dataclasses import replace

    from gbfix.engine.config import load_settings
    from gbfix.engine.model import ConfigurationError

    try:
        settings = load_settings(Path.cwd())
    except FileNotFoundError as error:
        raise ConfigurationError("the current folder was removed; go to another one") from error
    return replace(
        settings,
        select=_split(select) or tuple(settings.select),
        ignore=(*settings.ignore, *_split(ignore)),
        exclude=(*settings.exclude, *(exclude or ())),
        assume_compiled=settings.assume_compiled or assume_compiled,
        in_graph_asserts=settings.in_graph_asserts or in_graph_asserts,
        messages=messages.value if messages is not None else settings.messages,
    )


def preferences_of(settings: Settings) -> Preferences:
    """What the settings choose where a rule has several ways. Raises ConfigurationError for no way of messages."""
    from gbfix.analysis.preferences import Preferences
    from gbfix.engine.model import ConfigurationError
    from gbfix.engine.paths import printable

    known = [way.value for way in Messages]
    if settings.messages and settings.messages not in known:
        where = printable(settings.path) if settings.path is not None else "the settings"
        raise ConfigurationError(
            f"{where}: tool.gbfix.messages must be one of {', '.join(known)}, not {settings.messages!a}"
        )
    return Preferences(Messages(settings.messages or Messages.AUTO), settings.in_graph_asserts)


def chosen_rules(settings: Settings) -> tuple[Rule, ...]:
    """The rules that the settings select. Raises ConfigurationError for one that does not exist."""
    from gbfix.codemods import all_rules
    from gbfix.engine.select import select

    return select(all_rules(), settings.select, settings.ignore)


def chosen_torch(version: str | None, settings: Settings) -> Torch:
    """The PyTorch that the program runs with: the one of the option, else of the settings, else the installed one.

    Raises ConfigurationError for what is no version of it.
    """
    from gbfix.analysis.torch_versions import torch_of
    from gbfix.evidence.capabilities import installed_torch

    wanted = version or settings.torch
    return torch_of(wanted) if wanted else installed_torch()


def runs_every_rule(settings: Settings) -> bool:
    """True when nothing is selected or ignored."""
    return not settings.select and not settings.ignore


def _split(values: list[str] | None) -> tuple[str, ...]:
    parts = (part.strip() for value in values or () for part in value.split(","))
    return tuple(part for part in parts if part)
