"""From evidence to its report: ranks, and what the rules say about each row."""

from __future__ import annotations

from functools import partial

from gbfix.cli.evidence_advice import break_remedy
from gbfix.cli.evidence_findings import find
from gbfix.cli.evidence_rows import EvidenceReport, evidence_report
from gbfix.cli.recompile_advice import recompile_remedy
from gbfix.engine.model import Rule
from gbfix.evidence.model import Evidence


def report_of(evidence: Evidence, rules: tuple[Rule, ...]) -> EvidenceReport:
    """The whole report. The files of the sites are read; those that cannot be are among its problems."""
    findings = find(evidence, rules)
    return evidence_report(
        evidence,
        partial(break_remedy, evidence, findings),
        partial(recompile_remedy, evidence),
        findings.problems,
    )
