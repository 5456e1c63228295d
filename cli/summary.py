"""Counts of a run, and the line that tells them."""

from __future__ import annotations

from collections.abc import Collection

from gbfix.cli.outcome import Outcome
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Safety


@dataclass(frozen=True)
class Summary:
    """How much there was of everything."""

    files: int
    compiled_functions: int
    changed_files: int
    applied: int
    safe: int
    unsafe: int
    refused: int
    problems: int
    """`safe`, `unsafe` and `refused` count the findings that are left."""

    @property
    def remaining(self) -> int:
        """Findings that are left."""
        return self.safe + self.unsafe + self.refused


def summarize(outcome: Outcome) -> Summary:
    """Count what a run did and left."""
    left = [entry.finding.safety for file in outcome.files for entry in file.remaining]
    return Summary(
        files=len(outcome.files) + outcome.plain_files,
        compiled_functions=outcome.compiled_functions,
        changed_files=sum(file.changed for file in outcome.files),
        applied=sum(len(file.applied) for file in outcome.files),
        safe=left.count(Safety.SAFE),
        unsafe=left.count(Safety.UNSAFE),
        refused=left.count(Safety.REFUSED),
        problems=len(outcome.problems),
    )


def scan_line(summary: Summary) -> str:
    """The last line of a scan."""
    if not summary.remaining:
        return f"{_start(summary)}: nothing found{_end(summary)}"
    parts = [f"{count} {word}" for count, word in _left(summary) if count]
    return f"{_start(summary)}: {_count(summary.remaining, 'finding')} ({', '.join(parts)}){_end(summary)}"


def apply_line(summary: Summary, *, dry_run: bool, asked: Collection[Safety] = ()) -> str:
    """The last line of an apply; `asked` are the kinds of fixes that the user was asked about."""
    parts = []
    if summary.applied:
        made = "would be applied" if dry_run else "applied"
        parts.append(f"{_count(summary.applied, 'fix', 'fixes')} {made} in {_count(summary.changed_files, 'file')}")
    if summary.safe:
        parts.append(f"{_count(summary.safe, 'safe fix', 'safe fixes')} not applied")
    if summary.unsafe:
        how = "" if Safety.UNSAFE in asked else " (--unsafe applies them)"
        parts.append(f"{_count(summary.unsafe, 'unsafe fix', 'unsafe fixes')} not applied{how}")
    if summary.refused:
        parts.append(f"{summary.refused} refused")
    return f"{_start(summary)}: {', '.join(parts) or 'nothing to do'}{_end(summary)}"


def no_region_hint(summary: Summary) -> str | None:
    """What to do when nothing at all is compiled in the files given."""
    if not summary.files or summary.compiled_functions:
        return None
    return "no torch.compile in sight; --assume-compiled takes every nn.Module.forward as compiled"


def _start(summary: Summary) -> str:
    functions = _count(summary.compiled_functions, "compiled function")
    return f"{_count(summary.files, 'file')}, {functions}"


def _end(summary: Summary) -> str:
    return f", {_count(summary.problems, 'error')}" if summary.problems else ""


def _left(summary: Summary) -> list[tuple[int, str]]:
    return [(summary.safe, "safe to fix"), (summary.unsafe, "unsafe to fix"), (summary.refused, "refused")]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
