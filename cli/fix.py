"""`gbfix fix`: the whole way, from a run of the program to a checked diff."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gbfix.cli.failure import FINDINGS_REMAIN, one_line_failures
from gbfix.cli.options import Format, Ignore, InGraphAsserts, MessagesOption, Select, TorchVersion
from gbfix.cli.output_format import OutputFormat
from gbfix.cli.program import Command

if TYPE_CHECKING:
    from gbfix.cli.fix_report import FixReport
    from gbfix.cli.fix_texts import Texts
    from gbfix.cli.terminal import Terminal

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write the result without asking.")]
Within = Annotated[
    list[Path] | None,
    typer.Option("--within", metavar="PATH", help="Edit nothing outside of this file or folder; may be repeated."),
]
Unsafe = Annotated[bool, typer.Option("--unsafe", help="Also make fixes that assume what no check or run settles.")]
MaxRounds = Annotated[int, typer.Option("--max-rounds", min=1, metavar="N", help="One fix uncovers the next break.")]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", min=1, metavar="SECONDS", help="Begin nothing new after this time.")
]
Rtol = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="How much numbers that the program prints may differ. Default: 1e-5 with inductor, where rounding may "
        "change with the graph, else not at all.",
    ),
]
Bench = Annotated[bool, typer.Option("--bench", help="Time both versions of what is checked: cold start and steady.")]
AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Also write files with uncommitted changes.")]
PatchFile = Annotated[Path | None, typer.Option("--patch", metavar="FILE", help="Write the patch to this file, too.")]
Top = Annotated[int, typer.Option("--top", min=1, metavar="N", help="Rows shown of each list; the rest is counted.")]


def fix(
    command: Command = None,
    yes: Yes = False,
    within: Within = None,
    unsafe: Unsafe = False,
    max_rounds: MaxRounds = 8,
    time_limit: TimeLimit = None,
    rtol: Rtol = None,
    bench: Bench = False,
    allow_dirty: AllowDirty = False,
    patch: PatchFile = None,
    select: Select = None,
    ignore: Ignore = None,
    messages: MessagesOption = None,
    in_graph_asserts: InGraphAsserts = False,
    torch: TorchVersion = None,
    output_format: Format = OutputFormat.TEXT,
    top: Top = 20,
) -> None:
    """Fix what a program's run shows, check it, and try it in the program itself, round by round.

    For example: gbfix fix -- train.py --epochs 1. The program runs several times, so it should be short, do the same
    each time, and need no input. Its files are not touched meanwhile: fixed copies stand in for them. At the end the
    diff is shown and written when you say so; in a pipe it is the only thing on standard output. A break inside an
    installed library is fixed in a copy that `gbfix run` uses.
    """
    from gbfix.cli.check_find import check_installed
    from gbfix.cli.choices import chosen_rules, chosen_torch, preferences_of, settings_with
    from gbfix.cli.evidence_target import project_root
    from gbfix.cli.fix_files import check_within
    from gbfix.cli.fix_loop import Loop, Wishes
    from gbfix.cli.fix_program import Program
    from gbfix.cli.fix_report import FixReport, remaining_of
    from gbfix.cli.fix_steps import steps
    from gbfix.cli.fix_write import check_writable, overlaid_texts, planned
    from gbfix.cli.writing import check_patch_file
    from gbfix.engine.model import ConfigurationError
    from gbfix.evidence.launch import resolve_command

    with one_line_failures(), _ended_like_by_keyboard():
        if not command:
            raise ConfigurationError("no command given; write for example: gbfix fix -- train.py --epochs 1")
        check_installed()
        within = within or []
        check_within(within)
        if patch is not None:
            check_patch_file(patch)
        settings = settings_with(select, ignore, None, False, in_graph_asserts, messages)
        wishes = Wishes(
            chosen_rules(settings),
            preferences_of(settings),
            chosen_torch(torch, settings),
            unsafe or settings.unsafe,
            tuple(within),
            max_rounds,
            rtol,
            bench,
        )
        root = project_root()
        program = Program(resolve_command(command), root, steps(), time_limit)
        start, note = overlaid_texts(root)
        asks = sys.stdin.isatty() and sys.stdout.isatty() and output_format is OutputFormat.TEXT

        def allowed(texts: Texts) -> None:
            if yes or asks:
                check_writable(planned(texts.files(), root), allow_dirty=allow_dirty)

        fixed = Loop(program, wishes, allowed, start).fixed()
        if note:
            fixed = replace(fixed, notes=(note, *fixed.notes))
        new = [
            file for file in fixed.texts.files() if fixed.texts.planned.get(file.name) != start.planned.get(file.name)
        ]
        report = FixReport(fixed, planned(new, root), remaining_of(fixed, wishes), program.passed, str(root))
        _finish(report, root, output_format, patch, top, yes=yes, asks=asks, allow_dirty=allow_dirty)


def _finish(
    report: FixReport,
    root: Path,
    output_format: OutputFormat,
    patch: Path | None,
    top: int,
    *,
    yes: bool,
    asks: bool,
    allow_dirty: bool,
) -> None:
    """Show everything, write it if the user wants it, and leave with the exit status."""
    from gbfix.cli.evidence_target import evidence_target
    from gbfix.cli.fix_json import fix_json
    from gbfix.cli.fix_report import write_report
    from gbfix.cli.fix_write import write
    from gbfix.cli.observed_run import keep_evidence
    from gbfix.cli.terminal import open_terminal
    from gbfix.cli.writing import write_patch_data

    is_text = output_format is OutputFormat.TEXT
    patch_on_stdout = is_text and not sys.stdout.isatty() and not yes
    out = open_terminal(sys.stderr if patch_on_stdout or not is_text else sys.stdout)
    files = report.files
    if is_text:
        write_report(out, report, hunks=not patch_on_stdout, top=top)
    if patch is not None:
        write_patch_data(patch, files.patch + files.upstream)
    wanted = bool(files.files) and (yes or (asks and _agreed(out)))
    if wanted:
        hint = write(files, root, allow_dirty=allow_dirty)
        keep_evidence(report.fixed.after.evidence, evidence_target(None, root, overlay=bool(files.installed)))
        if is_text:
            out.line(f"written\n{hint}")
    elif files.files and is_text:
        out.line("nothing was written" + ("" if asks else "; --yes writes it"))
    sys.stdout.flush()
    if patch_on_stdout or not is_text:
        sys.stdout.buffer.write(files.patch if is_text else fix_json(report, written=wanted))
        sys.stdout.buffer.flush()
    if not report.is_done or (files.files and not wanted):
        raise typer.Exit(FINDINGS_REMAIN)


def _agreed(out: Terminal) -> bool:
    answer = out.ask("Write this? [y/N] ", sys.stdin)
    return (answer or "").lower() in ("y", "yes")


@contextmanager
def _ended_like_by_keyboard() -> Iterator[None]:
    """A request to end is handled as Ctrl-C is: what runs is ended and temporary files are removed."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {
        number: signal.signal(number, interrupt) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
