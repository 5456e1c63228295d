"""The fixes that a trial run decides about, and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import field, replace

from gbfix.analysis.source import SourceFile, parse
from gbfix.cli.apply_trial import SAVED, Trial, run_trial, verdict, with_outcome
from gbfix.cli.check_facts import Refusal
from gbfix.cli.inputs import Inputs
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Outcome
from gbfix.cli.run import Request, load_for, run
from gbfix.codemods._recompiled import recompiled_functions
from gbfix.codemods.varying_size import CODE, findings_about
from gbfix.engine.checked import with_trial
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Obligation, SourceError
from gbfix.evidence.model import Evidence

Identity = tuple[str, int, int, str]
"""A finding: its file, line and column in the file as it is, and its code."""


_NOT_TRIED = Refusal(SAVED, "not tested: no recorded command was run with it")


def identity_of(name: str, finding: Finding) -> Identity:
    """Tells a finding from all others."""
    return name, finding.span.line, finding.span.column, finding.code


@dataclass
class Tried:
    """Runs the recorded command once with all fixes of this kind, and decides about each by what that showed."""

    inputs: Inputs
    request: Request
    evidence: Evidence | None
    seconds: float
    run_with: Callable[[Evidence, Outcome, float], Trial] = run_trial
    """Runs the command of the evidence with what an outcome would write."""
    _decided: dict[Identity, str | Refusal] = field(default_factory=dict)
    _by_message: dict[tuple[str, str], str | Refusal] = field(default_factory=dict)
    """The same by file and message, for what is only found once other fixes were made."""

    def decides(self, finding: Finding) -> bool:
        """True for a fix that a trial run decides about, and no check."""
        return finding.code == CODE

    def try_fixes(self) -> None:
        """Make the trial run, if there is anything to try. Raises GbfixError."""
        rules = tuple(rule for rule in self.request.rules if rule.code == CODE)
        if not rules or not self.request.seen.recompiles or self.evidence is None:
            return
        outcome = run(self.inputs, replace(self.request, rules=rules, unsafe=True, review=None))
        if not any(file.changed for file in outcome.files):
            return
        trial = self.run_with(self.evidence, outcome, self.seconds)
        project = load_for(self._sources(), self.request)
        after = with_outcome(project, outcome)
        for one in recompiled_functions(project):
            decided = verdict(trial, one, after)
            for path in project.files:
                for finding in findings_about(project.view(path), one):
                    self._decided[identity_of(path, finding)] = decided
                    self._by_message[path, finding.message] = decided

    def reviewed(self, identity: Identity, finding: Finding) -> Finding:
        """The finding with what the trial run showed of it."""
        if finding.fix is None:
            return finding
        later = self._by_message.get((identity[0], finding.message), _NOT_TRIED)
        decided = self._decided.get(identity, later)
        if isinstance(decided, Refusal):
            violated = Obligation(decided.claim, Discharge.VIOLATED, decided.reason, finding.span.line)
            return replace(
                finding, obligations=(*finding.obligations, violated), advice=finding.advice or decided.advice
            )
        finding = with_trial(finding, decided)
        shown = Obligation(SAVED, Discharge.CHECKED, decided, finding.span.line)
        return replace(finding, obligations=(*finding.obligations, shown))

    def _sources(self) -> Iterator[SourceFile]:
        for source in self.inputs.sources:
            with suppress(SourceError):  # `run` tells of it
                yield parse(display_name(source.path), source.text)
