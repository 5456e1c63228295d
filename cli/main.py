"""The `gbfix` command.

What people and editors run most, `gbfix --version` and `gbfix scan` with nothing but paths, needs no Typer, which takes
longer to load than these take to run: it is answered here. All else is the Typer application's.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence


def main() -> None:
    """Run the command line; ends the process with the exit codes of `gbfix --help`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error: a name may hold what it cannot encode
    words = sys.argv[1:]
    if words == ["--version"]:
        from gbfix.cli.version import version_line

        print(version_line())
    elif _is_plain_scan(words):
        from gbfix.cli.plain_scan import plain_scan

        plain_scan(words[1:])
    else:
        from gbfix.cli.application import app

        app()


def _is_plain_scan(words: Sequence[str]) -> bool:
    """True for `scan` with paths and no options. On Windows, Typer expands patterns in them."""
    options = any(word.startswith("-") and word != "-" for word in words)
    return words[:1] == ["scan"] and not options and sys.platform != "win32"
