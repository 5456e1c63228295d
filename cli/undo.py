"""`gbfix undo`: take the last `gbfix apply` back."""

from __future__ import annotations

import typer

from gbfix.cli.failure import one_line_failures


def undo() -> None:
    """Take the last apply back, if the files are still as it left them."""
    from gbfix.cli.names import shown_name
    from gbfix.engine.undo import undo_last, undo_root

    with one_line_failures():
        restored = undo_last(undo_root())
        for path in restored:
            typer.echo(f"restored {shown_name(path)}")
        if not restored:
            typer.echo("the files of the last apply already have their old contents; its record is removed")
