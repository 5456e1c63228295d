"""The end of `gbfix fix` as one JSON document. Its layout changes only together with VERSION."""

from __future__ import annotations

import json
from dataclasses import asdict

import msgspec

from gbfix.cli.evidence_json import evidence_json
from gbfix.cli.fix_figures import figures_of
from gbfix.cli.fix_report import FixReport
from gbfix.cli.json_report import json_report
from gbfix.cli.outcome import Outcome

VERSION = 1


def fix_json(report: FixReport, *, written: bool) -> bytes:
    """Figures before and after, fixes as in `gbfix apply`, verdicts as in `gbfix check`, what remains as in a trace."""
    fixed = report.fixed
    fixes = json.loads(json_report(Outcome(report.files.files, (), 0)))
    document = {
        "version": VERSION,
        "command": list(fixed.before.evidence.command),
        "rounds": fixed.rounds,
        "seconds": round(report.seconds, 3),
        "ended": fixed.ended,
        "written": written,
        "before": asdict(figures_of(fixed.before.evidence)),
        "after": asdict(figures_of(fixed.after.evidence)),
        "files": fixes["files"],
        "checks": msgspec.to_builtins(fixed.verdicts),
        "remaining": json.loads(evidence_json(report.remaining)),
        "notes": [*fixed.notes, *report.remaining.problems],
        "patch": report.files.patch.decode("utf-8", "backslashreplace"),
        "upstream_patch": report.files.upstream.decode("utf-8", "backslashreplace"),
    }
    return json.dumps(document, indent=2).encode() + b"\n"
