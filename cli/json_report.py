"""The report as one JSON document. Its layout changes only together with VERSION."""

from __future__ import annotations

import json
from dataclasses import asdict

from gbfix.cli.outcome import Entry, FileOutcome, Outcome
from gbfix.cli.summary import summarize
from gbfix.engine.model import Finding, Fix, Obligation, Span

VERSION = 1


def json_report(outcome: Outcome, patch: bytes | None = None) -> bytes:
    """The whole run: files with findings, what was applied, problems, counts, and the patch where there is one.

    Lines are 1-based, columns 0-based characters, ends exclusive. `applied` stand at their lines before any
    edit, `findings` are what is left, at their lines in the file as the command leaves it. `notes`, where there
    are any, say what limits the result.
    """
    document: dict[str, object] = {
        "version": VERSION,
        "files": [_file(file) for file in outcome.files if _worth_telling(file)],
        "problems": list(outcome.problems),
        "summary": asdict(summarize(outcome)),
    }
    if outcome.notes:
        document["notes"] = list(outcome.notes)
    if patch is not None:
        document["patch"] = patch.decode("utf-8", "backslashreplace")
    return json.dumps(document, indent=2).encode() + b"\n"


def _worth_telling(file: FileOutcome) -> bool:
    return bool(file.applied or file.remaining or file.unused_suppressions)


def _file(file: FileOutcome) -> dict[str, object]:
    return {
        "path": file.name,
        "changed": file.changed,
        "findings": [_entry(entry) for entry in file.remaining],
        "applied": [_entry(entry) for entry in file.applied],
        "unused_suppressions": list(file.unused_suppressions),
    }


def _entry(entry: Entry) -> dict[str, object]:
    finding = entry.finding
    return {
        "code": finding.code,
        "name": finding.name,
        "safety": finding.safety.value,
        "message": finding.message,
        "function": finding.function,
        "region": finding.region,
        "span": _span(finding.span),
        "obligations": [_obligation(obligation) for obligation in finding.obligations],
        "fix": _fix(finding),
        "advice": finding.advice,
        "diff": entry.diff,
    }


def _span(span: Span) -> dict[str, int]:
    return asdict(span)


def _obligation(obligation: Obligation) -> dict[str, object]:
    shown = {**asdict(obligation), "discharge": obligation.discharge.value}
    del shown["awaits_run"]  # by the time it is written, the run is over
    return shown


def _fix(finding: Finding) -> dict[str, object] | None:
    fix: Fix | None = finding.fix
    if fix is None:
        return None
    replacements = [{"span": _span(r.span), "source": r.source} for r in fix.replacements]
    return {"title": fix.title, "replacements": replacements, "imports": list(fix.imports)}
