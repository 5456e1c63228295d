"""The report of `gbfix trace` as annotations of GitHub Actions.

One line per row: `::warning file=..,line=..,col=..,title=..::message`. Source: GitHub's documentation, "Workflow
commands for GitHub Actions"; the escapes are those of its toolkit (packages/core/src/command.ts).
"""

from __future__ import annotations

from collections.abc import Mapping

from gbfix.cli.evidence_advice import Remedy
from gbfix.cli.evidence_rows import EvidenceReport
from gbfix.cli.evidence_words import kind_of_break, kind_of_recompile, totals_lines
from gbfix.evidence.model import Place


def evidence_github(report: EvidenceReport, *, top: int) -> bytes:
    """A warning for each of the first `top` breaks and recompiles, and notices for totals and problems.

    Files are named from the root of the repository, as GitHub wants them.
    """
    lines = [
        _warning(row.site.place, f"Graph break {row.rank}", kind_of_break(row.site), row.cost, row.remedy)
        for row in report.breaks[:top]
    ]
    for row in report.recompiles[:top]:
        place = row.found.owner or row.found.place
        lines.append(_warning(place, f"Recompile {row.rank}", kind_of_recompile(row.found), row.cost, row.remedy))
    lines += [annotation("notice", {"title": "gbfix"}, problem) for problem in report.problems]
    lines.append(annotation("notice", {"title": "gbfix"}, "; ".join(totals_lines(report))))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def annotation(level: str, properties: Mapping[str, str], message: str) -> str:
    """One line. level: "notice", "warning" or "error"; the lines of the message become one."""
    joined = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level}{' ' if joined else ''}{joined}::{_message(message)}"


def _warning(place: Place, title: str, kind: str, cost: str, remedy: Remedy) -> str:
    properties = {"file": place.file, "line": str(place.line)}
    if place.column is not None:
        properties["col"] = str(place.column + 1)
        if place.end_column is not None and place.end_line == place.line:
            properties["endColumn"] = str(place.end_column)
    properties["title"] = title
    return annotation("warning", properties, "\n".join([kind, f"cost: {cost}", remedy.text, *remedy.commands]))


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
