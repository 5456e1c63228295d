"""The program that `gbfix trace` and `gbfix run` start, as it stands on their command lines."""

from __future__ import annotations

from typing import Annotated

import typer

SETTINGS = {"allow_interspersed_args": False}
"""Everything from the first word of the command on belongs to the command, options too."""

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- CMD",
        help="What to run: a script or -m MODULE, with the Python of gbfix, or a program such as pytest or torchrun; "
        "then its arguments.",
    ),
]
