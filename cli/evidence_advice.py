"""What to do about a break or a recompile: what a rule would do, or what helps where no rewrite does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

from gbfix.cli.evidence_findings import Findings
from gbfix.cli.evidence_places import absolute_path, is_library, is_pytorch, original_of
from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
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
        return of_finding(evidence, options, *found)
    caller = _asked_for_by_pytorch(evidence, site)
    return _without_finding(findings, site) if caller is None else _of_pytorch(caller)


def of_finding(evidence: Evidence, options: Sequence[str], place: Place, finding: Finding) -> Remedy:
    """What a finding would do about the row at its place."""
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
    """How to have a fix made; a file of a library is not edited but overlaid, and so is one whose copy ran."""
    if safety is Safety.REFUSED:
        return ()
    path = absolute_path(evidence, place.file)
    original = original_of(evidence, path)
    library = original is not None or is_library(evidence, place)
    observed = any(observation.file == place.file for observation in evidence.observations)
    words = [
        "gbfix apply",
        *(["--overlay"] if library else []),
        *(["--unsafe"] if safety is Safety.UNSAFE else []),
        *(["--assume-compiled"] if library and not observed else []),
        *(map(quote, options) if original is None else ()),
        quote(display_name(original or path)),
    ]
    return (" ".join(words), *(("gbfix run -- CMD",) if library else ()))


def _asked_for_by_pytorch(evidence: Evidence, site: Break) -> Place | None:
    """Where PyTorch itself calls torch._dynamo.graph_break(), as the step() of its optimizers does (2.6 to 2.14)."""
    innermost = site.stack[-1] if site.stack else None
    if site.gb != _ASKED_FOR or innermost is None or not is_pytorch(evidence, innermost):
        return None
    return innermost


_ASKED_FOR = "GB0025"


def _of_pytorch(place: Place) -> Remedy:
    file = place.file.rpartition("site-packages/")[2]
    return Remedy(
        "advice",
        "not a source problem: PyTorch itself ends the graph in this call",
        (f"{file}:{place.line} calls torch._dynamo.graph_break(). What the call does is still compiled.",),
        ("Make the call outside of the compiled function, or leave it: the graph ends there in any case.",),
    )


def _without_finding(findings: Findings, site: Break) -> Remedy:
    explanation = explain_id(site.gb or site.kind)
    not_asked = _why_not_asked(findings, site)
    if explanation is None:
        return Remedy("advice", not_asked or "gbfix has no rule for it", _first_line(site.explanation))
    text = not_asked or _KINDS.get(explanation.kind, _KINDS["advice"])
    if explanation.rules and not not_asked:
        text = f"no fix: the rules for this kind ({', '.join(explanation.rules)}) do not cover this line"
    quoted = _first_line(site.explanation) if _QUOTES.search(explanation.meaning) else ()
    return Remedy(
        "advice",
        text,
        (explanation.meaning, *(f"PyTorch says: {line}" for line in quoted)),
        explanation.ways_out,
        (f"gbfix explain {explanation.id}",),
    )


_KINDS = {
    "rewrite": "no fix: gbfix has no rule for it yet; by hand:",
    "setting": "not a source problem: a setting or annotation decides it",
    "advice": "no fix: it takes somebody who knows the program",
    "internal": "not a source problem: a limit of PyTorch's tracer",
}
_QUOTES = re.compile(r"the message (?:says|names|gives)")
"""How an explanation refers to the text that PyTorch reported."""


def _why_not_asked(findings: Findings, site: Break) -> str:
    file = site.place.file
    if file in findings.changed:
        return f"not known: {file} changed since the program ran; trace it again"
    if file in findings.absent:
        return f"not known: {file} is not on this machine"
    return ""


def _first_line(text: str) -> tuple[str, ...]:
    return (text.strip().split("\n")[0],) if text.strip() else ()
