"""From evidence to its report: ranks, and what the rules say about each row."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from gbfix.analysis.preferences import DEFAULT, Preferences
from gbfix.cli.evidence_advice import break_remedy
from gbfix.cli.evidence_findings import find
from gbfix.cli.evidence_rows import EvidenceReport, evidence_report
from gbfix.cli.names import display_name
from gbfix.cli.recompile_advice import remedy_with_fix
from gbfix.engine.model import Rule
from gbfix.evidence.model import Evidence
from gbfix.evidence.store import find_evidence


def report_of(
    evidence: Evidence,
    rules: tuple[Rule, ...],
    document: Path,
    preferences: Preferences = DEFAULT,
) -> EvidenceReport:
    """The whole report. The files of the sites are read; those that cannot be are among its problems.

    `document` is where the evidence is kept, for the commands that need it.
    """
    findings = find(evidence, rules, display_name(document), preferences)
    is_usual = Path(os.path.realpath(document)) == find_evidence(Path(evidence.root))
    option = () if is_usual else ("--evidence", display_name(document))
    return evidence_report(
        evidence,
        partial(break_remedy, evidence, findings, option),
        partial(remedy_with_fix, evidence, findings, option),
        findings.problems,
    )
