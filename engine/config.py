"""The user's settings: `[tool.gbfix]` in pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

from gbfix.engine.dataclass import dataclass
from gbfix.engine.git import repository_root
from gbfix.engine.model import ConfigurationError
from gbfix.engine.paths import printable

_LISTS = ("select", "ignore", "exclude")
_SWITCHES = ("unsafe", "assume-compiled", "in-graph-asserts")
_TEXTS = ("torch", "messages")


@dataclass(frozen=True)
class Settings:
    """What the user configured; the defaults where nothing is said."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    unsafe: bool = False
    assume_compiled: bool = False
    in_graph_asserts: bool = False
    path: Path | None = None
    """The pyproject.toml that these come from; `exclude` is anchored at its folder."""
    torch: str = ""
    """The version of PyTorch that the program runs with; empty for the one that is installed."""
    messages: str = ""
    """How messages leave compiled code; empty for the usual order."""


def load_settings(start: Path) -> Settings:
    """The settings that hold for the file or folder `start`.

    They stand in the nearest pyproject.toml at or above it that has a `[tool.gbfix]` table; one without is
    passed over, as in a repository of several packages. The search ends at the top of the repository.
    Raises ConfigurationError for an unknown key, a wrong type, and a pyproject.toml that cannot be read.
    """
    folder = start.resolve()
    root = repository_root(folder)
    for candidate in (folder, *folder.parents):
        path = candidate / "pyproject.toml"
        table = _table(path) if path.is_file() else None
        if table is not None:
            return _settings(path, table)
        if candidate == root:
            break
    return Settings()


def _table(path: Path) -> dict[str, object] | None:
    """The `[tool.gbfix]` table, None when there is none."""
    # Slow to load, and many programs stand where there is no pyproject.toml.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{printable(path)}: not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    tool = document.get("tool")
    if not isinstance(tool, dict) or "gbfix" not in tool:
        return None
    table = tool["gbfix"]
    if not isinstance(table, dict):
        raise ConfigurationError(f"{printable(path)}: tool.gbfix must be a table, not {_kind(table)}")
    return table


def _settings(path: Path, table: dict[str, object]) -> Settings:
    known = (*_LISTS, *_SWITCHES, *_TEXTS)
    for key in table:
        if key not in known:
            import difflib  # slow to load, and needed only for a mistake

            nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]
            raise ConfigurationError(
                f'{printable(path)}: unknown key {key!a} in [tool.gbfix]; did you mean "{nearest}"? '
                f"(known: {', '.join(known)})"
            )
    return Settings(
        select=_strings(path, table, "select"),
        ignore=_strings(path, table, "ignore"),
        exclude=_strings(path, table, "exclude"),
        unsafe=_switch(path, table, "unsafe"),
        assume_compiled=_switch(path, table, "assume-compiled"),
        in_graph_asserts=_switch(path, table, "in-graph-asserts"),
        path=path,
        torch=_text(path, table, "torch"),
        messages=_text(path, table, "messages"),
    )


def _strings(path: Path, table: dict[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ConfigurationError(f"{printable(path)}: tool.gbfix.{key} must be a list of strings, not {_kind(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ConfigurationError(f"{printable(path)}: tool.gbfix.{key} must hold strings only, not {_kind(item)}")
    return tuple(value)


def _switch(path: Path, table: dict[str, object], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigurationError(f"{printable(path)}: tool.gbfix.{key} must be true or false, not {_kind(value)}")
    return value


def _text(path: Path, table: dict[str, object], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ConfigurationError(f"{printable(path)}: tool.gbfix.{key} must be a string, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    kinds = {str: "a string", bool: "a boolean", int: "an integer", float: "a float", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date or time")
