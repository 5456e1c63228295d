"""The options of `gbfix check`, and the settings that they mean."""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gbfix.cli.report_format import ReportFormat
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import ConfigurationError

if TYPE_CHECKING:
    from gbfix.equivalence.model import Settings, Tolerance

_EACH_CHECK = 4
"""Processors: two versions work at a time, with threads of their own."""


class Backend(str, Enum):
    """What compiles the graphs."""

    EAGER = "eager"
    AOT_EAGER = "aot_eager"
    INDUCTOR = "inductor"


class FloatingDtype(str, Enum):
    """A dtype that all floating arguments can be given."""

    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"


Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET",
        help="module:function, module:Class, path/file.py:function or tests/test_x.py::test_y. Default: every compiled "
        "function of the recorded run that pending or applied fixes touch.",
        show_default=False,
    ),
]
InputsFrom = Annotated[
    str,
    typer.Option(
        "--inputs",
        metavar="MODULE:NAME",
        help="A Hypothesis strategy of argument tuples, a list of such, or a function that returns one.",
    ),
]
Factory = Annotated[
    str, typer.Option(metavar="MODULE:FUNCTION", help="Called without arguments, returns what is to be checked.")
]
Original = Annotated[
    str | None,
    typer.Option(metavar="WHAT", help="The original: a file, a folder or a git revision. Default: see above."),
]
Rewritten = Annotated[str | None, typer.Option(metavar="PATH", help="The rewritten version: a file or a folder.")]
FromOverlay = Annotated[bool, typer.Option("--overlay", help="The rewritten version: the copies in the overlay.")]
BackendOption = Annotated[
    Backend, typer.Option(help="eager is quick and shows what Dynamo does; inductor is the real one.")
]
Device = Annotated[str, typer.Option(metavar="DEVICE", help="cpu, cuda or cuda:N.")]
Dtype = Annotated[FloatingDtype | None, typer.Option(help="All floating arguments. Default: as recorded.")]
Examples = Annotated[
    int, typer.Option(min=1, metavar="N", help="Calls in eager mode, about; more where a side is not reached.")
]
CompiledExamples = Annotated[int, typer.Option(min=1, metavar="N", help="How many of them are run compiled, too.")]
Rtol = Annotated[float | None, typer.Option(min=0, help="Relative tolerance. Default: values are equal bit for bit.")]
Atol = Annotated[float | None, typer.Option(min=0, help="Absolute tolerance.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Of the examples: the same seed gives the same ones.")]
Timeout = Annotated[float, typer.Option(min=1, metavar="SECONDS", help="For each target, all in all.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Targets side by side. Default: CPUs / 4.")
]
BenchOption = Annotated[bool, typer.Option("--bench", help="Also time both versions: cold start and steady state.")]
WriteTest = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a pytest file that pins what was found equal.")
]
Ray = Annotated[str, typer.Option(metavar="ADDRESS", help="Spread the targets over this Ray cluster.")]
Rerun = Annotated[bool, typer.Option("--rerun", help="Check again what was found equal before.")]
Output = Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write the report to this file.")]
ReportFormatOption = Annotated[ReportFormat, typer.Option("--output-format", help="How the report is written.")]
ExitZeroOption = Annotated[
    bool, typer.Option("--exit-zero", help="Exit 0 where versions differ or were not tested; failures still exit 2.")
]


@dataclass(frozen=True)
class Choices:
    """Options that exclude each other, as they were given."""

    targets: tuple[str, ...] = ()
    factory: str = ""
    inputs: str = ""
    original: str | None = None
    rewritten: str | None = None
    overlay: bool = False
    unsafe: bool = False
    selects: bool = False
    """--select or --ignore."""
    bench: bool = False
    jobs: int | None = None
    ray: str = ""


def check_choices(choices: Choices) -> None:
    """Raise ConfigurationError for options that do not go together."""
    given = choices.original is not None or choices.rewritten is not None
    if choices.overlay and given:
        other = "--original" if choices.original is not None else "--rewritten"
        raise ConfigurationError(f"--overlay and {other} both say what is compared; give one of them")
    if (choices.overlay or given) and (choices.unsafe or choices.selects):
        option = "--unsafe" if choices.unsafe else "--select and --ignore"
        raise ConfigurationError(
            f"{option} choose among pending fixes, and none is looked for with --overlay, --original or --rewritten"
        )
    for option, value in (("--original", choices.original), ("--rewritten", choices.rewritten)):
        if value is not None and Path(value).is_file() and len(choices.targets) != 1:
            raise ConfigurationError(f"{option} {value}: a file stands for that of one target; name the target")
    for option, value in (("--factory", choices.factory), ("--inputs", choices.inputs)):
        if value and len(choices.targets) != 1:
            raise ConfigurationError(f"{option} is for one target; name the target")
    if choices.inputs and not re.fullmatch(r"[\w.]+:\w+", choices.inputs):
        raise ConfigurationError(f"--inputs {choices.inputs}: write module:name, such as tests.inputs:calls")
    if choices.bench and (choices.jobs or 1) > 1:
        raise ConfigurationError("--bench needs the machine for itself; leave --jobs out")
    if choices.ray and choices.jobs is not None:
        raise ConfigurationError("--ray spreads the targets by itself; leave --jobs out")


def check_device(device: str) -> str:
    """The device. Raises ConfigurationError for another word; whether it is there is found out where it is needed."""
    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise ConfigurationError(f"--device {device}: is none of cpu, cuda and cuda:N")
    return device


def tolerance(rtol: float | None, atol: float | None) -> Tolerance | None:
    """None when neither option is given: then values are compared bit for bit."""
    from gbfix.equivalence.model import Tolerance

    return None if rtol is None and atol is None else Tolerance(rtol or 0.0, atol or 0.0)


def workers(jobs: int | None, settings: Settings) -> int:
    """How many targets are checked side by side."""
    return 1 if settings.bench else jobs or max((os.cpu_count() or 1) // _EACH_CHECK, 1)
