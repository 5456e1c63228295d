"""`gbfix apply --check`: only fixes that an equivalence check found to change nothing are made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gbfix.cli.check_entries import Entries
from gbfix.cli.check_find import Recorded, check_installed, read_evidence
from gbfix.cli.check_options import workers
from gbfix.cli.check_plan import Planned, Planner, Wanted
from gbfix.cli.check_run import Checks, is_equal
from gbfix.cli.check_versions import Changes, pending
from gbfix.cli.evidence_target import project_root
from gbfix.cli.inputs import Inputs
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Entry, Outcome
from gbfix.cli.run import Request, run
from gbfix.engine.checked import CheckFacts, ConditionFacts, with_checked
from gbfix.engine.model import ConfigurationError, Discharge, Finding, Obligation
from gbfix.equivalence.model import Settings, Status, Verdict
from gbfix.evidence.model import Evidence

CLAIM = "a check finds the program the same"

Identity = tuple[str, int, int, str]
"""A finding: its file, line and column in the file as it is, and its code."""


def check_apply_options(paths: Sequence[str] | None, *, interactive: bool) -> None:
    """Raise ConfigurationError for what cannot be given together with --check."""
    if "-" in (paths or ()):
        raise ConfigurationError('--check runs the program, so that it needs files; "-" cannot be given with it')
    if interactive:
        raise ConfigurationError(
            "--check decides for each fix by itself, so that --interactive cannot be given with it"
        )


def checked_outcome(inputs: Inputs, request: Request, evidence_file: Path | None, *, no_evidence: bool) -> Outcome:
    """What `run` gives with those fixes alone that a check lets through. Raises GbfixError when none can be made."""
    check_installed()
    root = project_root()
    evidence = read_evidence(Recorded(evidence_file, no_evidence), root)
    if evidence is not None and not Entries(evidence, lambda _file: None).functions():
        evidence = None
    wanted = Wanted(Settings(database=str(root / ".gbfix" / "hypothesis")))
    checks = Checks(root, workers(None, wanted.settings))
    return CheckedFixes(inputs, request, checks, wanted, evidence).outcome()


@dataclass
class CheckedFixes:
    """Finds out which fixes can be made, in rounds: all that are possible first, then those that are left."""

    inputs: Inputs
    request: Request
    checks: Checks
    wanted: Wanted
    evidence: Evidence | None
    _facts: dict[Identity, tuple[CheckFacts, ...]] = field(default_factory=dict)
    _refused: dict[Identity, str] = field(default_factory=dict)

    def outcome(self) -> Outcome:
        """What `run` gives with those fixes alone that a check lets through."""
        every = replace(self.request, unsafe=True)
        while self._refuses(self._run(every)):
            pass
        while self._refuses(outcome := self._run(self.request)):
            pass
        return outcome

    def _run(self, request: Request) -> Outcome:
        return run(self.inputs, replace(request, review=self._reviewed))

    def _reviewed(self, name: str, finding: Finding) -> Finding:
        """The finding with what is known of it from checks; `finding` stands at its lines in the file as it is."""
        identity = _identity(name, finding)
        for facts in self._facts.get(identity, ()):
            finding = with_checked(finding, facts)
        if identity in self._refused and not any(facts.difference for facts in self._facts.get(identity, ())):
            violated = Obligation(CLAIM, Discharge.VIOLATED, self._refused[identity], finding.span.line)
            finding = replace(finding, obligations=(*finding.obligations, violated))
        return finding

    def _refuses(self, outcome: Outcome) -> bool:
        """Check what would be written; True when that refuses a fix, so that there is another outcome to check."""
        applied = _applied(outcome)
        if not applied:
            return False
        before = len(self._refused)
        plans = self._plans(outcome)
        report = self.checks.run(plans)
        verdicts = {verdict.target: verdict for verdict in report.verdicts}
        self._facts = {identity: facts for identity, facts in self._facts.items() if identity in self._refused}
        covered: set[Identity] = set()
        for plan in plans:
            verdict = verdicts.get(plan.name)
            fixes = [fix for fix in applied if plan.job is not None and _text(fix) in plan.job.fixes]
            covered.update(fixes)
            if verdict is not None:
                self._judge(plan, verdict, fixes)
        for fix in applied.keys() - covered:
            self._refused[fix] = "not tested: no target that could be called runs it; see `gbfix check --help`"
        return len(self._refused) > before

    def _judge(self, plan: Planned, verdict: Verdict, fixes: Sequence[Identity]) -> None:
        if is_equal(verdict):
            for fix in fixes:
                self._facts[fix] = (*self._facts.get(fix, ()), facts_of(verdict, fix[0]))
            return
        for fix in self._to_blame(plan, verdict, fixes):
            self._refused[fix] = f"{verdict.status.value}: {verdict.reason}"
            if verdict.status is Status.DIFFERENT:
                self._facts[fix] = (facts_of(verdict, fix[0]),)

    def _to_blame(self, plan: Planned, verdict: Verdict, fixes: Sequence[Identity]) -> Sequence[Identity]:
        """The fixes that make a target different when each is made alone; all of them when none does by itself."""
        if len(fixes) == 1 or verdict.status is not Status.DIFFERENT:
            return fixes
        return [fix for fix in fixes if self._differs_alone(plan, fix)] or fixes

    def _differs_alone(self, plan: Planned, fix: Identity) -> bool:
        request = replace(self.request, unsafe=True, accept=lambda name, entry: _identity(name, entry.finding) == fix)
        alone = [each for each in self._plans(self._run(request)) if each.name == plan.name]
        return any(verdict.status is Status.DIFFERENT for verdict in self.checks.run(alone).verdicts)

    def _plans(self, outcome: Outcome) -> tuple[Planned, ...]:
        """The targets of the evidence that the fixes touch, and each function with a fix that none of them covers."""
        changes = pending(outcome)
        plans: tuple[Planned, ...] = ()
        if self.evidence is not None and not self.wanted.targets:
            plans = self._planned(self.wanted, changes)
        covered = {fix for plan in plans if plan.job is not None for fix in plan.job.fixes}
        names = [_function(fix, entry) for fix, entry in _applied(outcome).items() if _text(fix) not in covered]
        alone = replace(self.wanted, targets=tuple(dict.fromkeys(names)))
        return (*plans, *(self._planned(alone, changes) if names else ()))

    def _planned(self, wanted: Wanted, changes: Changes) -> tuple[Planned, ...]:
        def find_pending(_files: Iterable[Path]) -> Changes:
            return changes

        return Planner(wanted, self.checks.root, self.evidence, find_pending).plans()


def facts_of(verdict: Verdict, name: str) -> CheckFacts:
    """What a verdict says about the fixes in a file, named as the user sees it."""
    exercised = verdict.exercised
    difference = ""
    if verdict.status is Status.DIFFERENT:
        call = f" for {verdict.counterexample.call}" if verdict.counterexample else ""
        difference = f"{verdict.reason}{call}"
    conditions = tuple(
        ConditionFacts(branch.condition.line, not branch.missing, branch.with_gradients)
        for branch in verdict.branches
        if os.path.realpath(name) == os.path.realpath(branch.condition.file)
    )
    return CheckFacts(
        verdict.target,
        exercised.examples,
        conditions,
        half=exercised.half,
        integers=exercised.integers,
        non_contiguous=exercised.non_contiguous,
        special=exercised.special,
        empty=exercised.empty,
        compiled=exercised.compiled,
        device=verdict.device,
        difference=difference,
    )


def _applied(outcome: Outcome) -> Mapping[Identity, Entry]:
    return {_identity(file.name, entry.finding): entry for file in outcome.files for entry in file.applied}


def _identity(name: str, finding: Finding) -> Identity:
    return name, finding.span.line, finding.span.column, finding.code


def _text(fix: Identity) -> str:
    """As a job names its fixes."""
    name, line, _, code = fix
    return f"{name}:{line} {code}"


def _function(fix: Identity, entry: Entry) -> str:
    """The outermost function or method around a fix, as a target."""
    return f"{display_name(Path(fix[0]))}:{entry.finding.function.partition('.<locals>')[0]}"
