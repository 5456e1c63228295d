"""What to do about a break or a recompile: what a rule would do, or what helps where no rewrite does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from gbfix.cli.evidence_findings import Findings
from gbfix.cli.evidence_places import absolute_path, is_library
from gbfix.cli.names import display_name
from gbfix.engine.model import Discharge, Finding, Obligation, Safety
from gbfix.evidence.model import Break, Evidence, Place
from gbfix.evidence.registry import explain_id


@dataclass(frozen=True)
class Remedy:
    """What to do about one row.

    action: "safe", "unsafe" or "refused" for a finding of a rule; "advice" where no rule has one; "nothing" where
    nothing needs to be done. text: that in one line. details: why. ways_out: what the user could do, the best
    first. commands: what to run.
    """

    action: str
    text: str
    details: tuple[str, ...] = ()
    ways_out: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    rule: str = ""
    rule_name: str = ""

    @property
    def settled(self) -> bool:
        """True when nothing needs to be done."""
        return self.action == "nothing"


def break_remedy(evidence: Evidence, findings: Findings, options: Sequence[str], site: Break) -> Remedy:
    """What gbfix would do about a break, or what the user can do; `options` name the evidence to `gbfix apply`."""
    found = findings.of(site)
    if found is not None:
        return _of_finding(evidence, options, *found)
    return _without_finding(findings, site)


def _of_finding(evidence: Evidence, options: Sequence[str], place: Place, finding: Finding) -> Remedy:
    return Remedy(
        action=finding.safety.value,
        text=f"{finding.code} {finding.name}, {finding.safety.value}: {_WHAT[finding.safety]}",
        details=tuple(_met(o) for o in finding.obligations if o.discharge in _TOLD[finding.safety]),
        ways_out=(finding.advice,) if finding.safety is Safety.REFUSED and finding.advice else (),
        commands=_commands(evidence, options, place, finding.safety),
        rule=finding.code,
        rule_name=finding.name,
    )


_WHAT = {
    Safety.SAFE: "gbfix rewrites it",
    Safety.UNSAFE: "gbfix rewrites it when you agree with what it assumes",
    Safety.REFUSED: "gbfix leaves it alone",
}
_TOLD = {
    Safety.SAFE: frozenset[Discharge](),
    Safety.UNSAFE: frozenset({Discharge.ASSUMED}),
    Safety.REFUSED: frozenset({Discharge.VIOLATED}),
}


def _met(obligation: Obligation) -> str:
    where = f" (line {obligation.line})" if obligation.line else ""
    return f"{obligation.discharge.value}: {obligation.claim}: {obligation.reason}{where}"


def _commands(evidence: Evidence, options: Sequence[str], place: Place, safety: Safety) -> tuple[str, ...]:
    """How to have a fix made; a file of a library is not edited but overlaid."""
    if safety is Safety.REFUSED:
        return ()
    library = is_library(evidence, place)
    observed = any(observation.file == place.file for observation in evidence.observations)
    words = [
        "gbfix apply",
        *(["--overlay"] if library else []),
        *(["--unsafe"] if safety is Safety.UNSAFE else []),
        *(["--assume-compiled"] if library and not observed else []),
        *map(quote, options),
        quote(display_name(absolute_path(evidence, place.file))),
    ]
    return (" ".join(words), *(("gbfix run -- CMD",) if library else ()))


def _without_finding(findings: Findings, site: Break) -> Remedy:
    explanation = explain_id(site.gb or site.kind)
    notes = _why_no_finding(findings, site)
    if explanation is None:
        return Remedy("advice", "no rule of gbfix deals with it", (*notes, *_first_line(site.explanation)))
    text = _KINDS.get(explanation.kind, _KINDS["advice"])
    if explanation.rules and not notes:
        codes = ", ".join(explanation.rules)
        notes = (f"the rules for breaks of this kind ({codes}) do not know the form that this line has",)
    return Remedy(
        "advice",
        text,
        (*notes, explanation.meaning),
        explanation.ways_out,
        (f"gbfix explain {explanation.id}",),
    )


_KINDS = {
    "rewrite": "no fix: a change of the source can cure it, but gbfix has no rule that makes it here",
    "setting": "not a source problem: a setting or annotation decides it",
    "advice": "no fix: no rewrite cures it mechanically",
    "internal": "not a source problem: a limit of PyTorch's tracer",
}


def _why_no_finding(findings: Findings, site: Break) -> tuple[str, ...]:
    file = site.place.file
    if file in findings.changed:
        return (f"{file} changed since the program ran, so the rules were not asked; trace again",)
    if file in findings.absent:
        return (f"{file} is not on this machine, so the rules were not asked",)
    return ()


def _first_line(text: str) -> tuple[str, ...]:
    return (text.strip().split("\n")[0],) if text.strip() else ()
