"""The `gbfix` command.

What people and editors run most, `gbfix --version` and `gbfix scan` with paths and a few options, needs no Typer, which
takes longer to load than these take to run: it is answered here. All else is the Typer application's.
"""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line; ends the process with the exit codes of `gbfix --help`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error: a name may hold what it cannot encode
    words = sys.argv[1:]
    if words == ["--version"]:
        from gbfix.cli.version import version_line

        print(version_line())
    elif words[:1] == ["scan"] and sys.platform != "win32":  # there, Typer expands patterns in paths
        from gbfix.cli.plain_scan import plain_scan, read_plainly

        read = read_plainly(words[1:])
        if read is not None:
            plain_scan(*read)
        else:
            _typer()
    else:
        _typer()


def _typer() -> None:
    from gbfix.cli.application import app

    app()
