"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from gbfix.analysis.preferences import Messages
from gbfix.cli.output_format import OutputFormat

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS", help='Files and folders; "-" reads one program from standard input. Default: this folder.'
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(metavar="RULES", help="Only these rules: codes, prefixes or names, comma separated."),
]
Ignore = Annotated[
    list[str] | None, typer.Option(metavar="RULES", help="Not these rules: codes, prefixes or names, comma separated.")
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Leave out files that match this pattern, as in .gitignore."),
]
AssumeCompiled = Annotated[
    bool, typer.Option("--assume-compiled", help="Take every nn.Module.forward as compiled, for a library.")
]
MessagesOption = Annotated[
    Messages | None,
    typer.Option(
        "--messages",
        help="How print, logging and warnings leave compiled code. Default: auto, the strongest exact way.",
    ),
]
InGraphAsserts = Annotated[
    bool,
    typer.Option(
        "--in-graph-asserts", help="Turn checks that raise into asserts of the graph, which raise RuntimeError."
    ),
]
TorchVersion = Annotated[
    str | None,
    typer.Option("--torch", metavar="VERSION", help="For this PyTorch, such as 2.11. Default: the installed one."),
]
Format = Annotated[OutputFormat, typer.Option("--output-format", help="How the report is written.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 where findings remain; failures still exit 2.")]
