"""The report of `gbfix check` as annotations of GitHub Actions (see `evidence_github` for the format)."""

from __future__ import annotations

import os
from pathlib import Path

from gbfix.cli.evidence_github import annotation
from gbfix.equivalence.model import CheckReport, Counts, Status, Verdict

_LEVELS = {
    Status.EQUAL: "notice",
    Status.CLOSE: "notice",
    Status.DIFFERENT: "error",
    Status.NOT_TESTED: "warning",
}


def check_github(report: CheckReport, nothing: str) -> bytes:
    """A line for each target: an error where the versions differ, a warning where nothing was shown, else a notice.

    Files are named from the root of the repository, as GitHub wants them. nothing: as for `check_text.write_check`.
    """
    lines = [_line(verdict, Path(report.root)) for verdict in report.verdicts]
    if nothing:
        lines.append(annotation("notice", {"title": "gbfix check"}, nothing))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def _line(verdict: Verdict, root: Path) -> str:
    properties = {**_place(verdict, root), "title": f"{verdict.target}: {verdict.status.value}"}
    parts = [verdict.reason, verdict.versions]
    if verdict.counterexample is not None:
        parts.append(f"call: {verdict.counterexample.call}")
    if verdict.original is not None and verdict.rewritten is not None:
        parts.append(f"{_figures(verdict.original)} -> {_figures(verdict.rewritten)}")
    return annotation(_LEVELS[verdict.status], properties, "\n".join(part for part in parts if part))


def _place(verdict: Verdict, root: Path) -> dict[str, str]:
    """Where the rewrite begins: at its first condition, else at its first fix."""
    if verdict.branches:
        condition = verdict.branches[0].condition
        return {"file": os.path.relpath(condition.file, root).replace(os.sep, "/"), "line": str(condition.line)}
    if verdict.fixes:
        file, _, line = verdict.fixes[0].rpartition(" ")[0].rpartition(":")
        return {"file": os.path.relpath(os.path.abspath(file), root).replace(os.sep, "/"), "line": line}
    return {}


def _figures(counts: Counts) -> str:
    fullgraph = "works" if counts.fullgraph else "fails"
    return f"{counts.graphs} graphs, {len(counts.breaks)} break sites, fullgraph=True {fullgraph}"
