"""`gbfix apply --check`: only fixes that an equivalence check found to change nothing are made."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from gbfix.cli.check_entries import Entries
from gbfix.cli.check_facts import PASSED, Refusal, difference, facts_of, in_words, not_passed, passes
from gbfix.cli.check_find import check_installed
from gbfix.cli.check_options import workers
from gbfix.cli.check_plan import Planned, Planner, Wanted
from gbfix.cli.check_run import Checks
from gbfix.cli.check_versions import Changes, pending
from gbfix.cli.evidence_target import project_root
from gbfix.cli.inputs import Inputs
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Entry, Outcome
from gbfix.cli.run import Memory, Request, run
from gbfix.cli.tried import Identity, Tried, identity_of
from gbfix.engine.checked import CheckFacts, with_checked
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import ConfigurationError, Discharge, Finding, GbfixError, Obligation, Safety
from gbfix.equivalence.model import Settings, Status, Verdict
from gbfix.evidence.model import Evidence

RefusedFix = tuple[Identity, tuple[str, ...]]
"""A finding, and the new source of the fix that is not made."""

_NOT_COVERED = Refusal(PASSED, "not tested: no check runs it", "")


def check_apply_options(paths: Sequence[str] | None, *, interactive: bool) -> None:
    """Raise ConfigurationError for what cannot be given together with --check."""
    if "-" in (paths or ()):
        raise ConfigurationError('--check runs the program, so that it needs files; "-" cannot be given with it')
    if interactive:
        raise ConfigurationError(
            "--check decides for each fix by itself, so that --interactive cannot be given with it"
        )


def checked_outcome(inputs: Inputs, request: Request, evidence: Evidence | None) -> Outcome:
    """What `run` gives with those fixes alone that a check lets through. Raises GbfixError when none can be made."""
    check_installed()
    root = project_root()
    recorded = evidence
    if evidence is not None and not Entries(evidence, lambda _file: None).functions():
        evidence = None
    wanted = Wanted(Settings(database=str(root / ".gbfix" / "hypothesis")))
    checks = Checks(root, workers(None, wanted.settings))
    tried = Tried(inputs, request, recorded, wanted.settings.seconds)
    return CheckedFixes(inputs, request, checks, wanted, evidence, tried).outcome()


class Originals:
    """What fixes are checked against, and by which lines they are known: here the files as they are given."""

    def changes(self, outcome: Outcome) -> Changes:
        """Both versions of what an outcome would write."""
        return pending(outcome)

    def finding(self, _name: str, finding: Finding) -> Finding:
        """A finding at its lines in the original of a file."""
        return finding


@dataclass
class CheckedFixes:
    """Finds out which fixes can be made, in rounds: those that are possible, then those that are left of them.

    strict: a safe fix is made only when a check passed it, too, and not also when none can run it.
    """

    inputs: Inputs
    request: Request
    checks: Checks
    wanted: Wanted
    evidence: Evidence | None
    tried: Tried
    originals: Originals = field(default_factory=Originals)
    strict: bool = True
    _memory: Memory = field(default_factory=Memory)
    _passed: dict[Identity, tuple[CheckFacts, ...]] = field(default_factory=dict)
    _failed: dict[Identity, Refusal] = field(default_factory=dict)
    """By fixes of this round that no check passed so far; the first reason counts."""
    _refused: dict[RefusedFix, Refusal] = field(default_factory=dict)
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By their keys, those that are not equal too, which the store would have checked again."""

    def outcome(self) -> Outcome:
        """What `run` gives with those fixes alone that a check lets through.

        The unsafe ones take part at first, since a check can make them safe. What is then written is checked once
        more as it is: without those that stay unsafe it is another program.
        """
        self.tried.try_fixes()
        every = replace(self.request, unsafe=True)
        while self._refuses(self._run(every)):
            pass
        while self._refuses(outcome := self._run(self.request)):
            pass
        return outcome

    def outcome_of(self, fixes: Collection[Identity]) -> Outcome:
        """What `run` gives with these fixes alone."""

        def accept(name: str, entry: Entry) -> bool:
            return self._identity(name, entry) in fixes and self.request.accept(name, entry)

        return self._run(replace(self.request, accept=accept))

    def applied(self, outcome: Outcome) -> Mapping[Identity, Entry]:
        """The fixes that an outcome makes."""
        return {self._identity(file.name, entry): entry for file in outcome.files for entry in file.applied}

    def refuse(self, name: str, entry: Entry, refusal: Refusal) -> None:
        """Make no such fix from now on; the rule may know another one."""
        self._refused[refused_fix(self._identity(name, entry), entry.finding)] = refusal

    @property
    def refused(self) -> dict[RefusedFix, Refusal]:
        """The fixes that are not made, and why."""
        return self._refused

    @property
    def has_counterexample(self) -> bool:
        """True when a check found a difference, which a program shows."""
        return any(verdict.counterexample is not None for verdict in self._verdicts.values())

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the verdicts that were asked for."""
        return frozenset(self._verdicts)

    def _identity(self, name: str, entry: Entry) -> Identity:
        return identity_of(name, self.originals.finding(name, entry.finding))

    def _run(self, request: Request) -> Outcome:
        request = replace(request, review=self.reviewed, is_refused=self._is_refused, memory=self._memory)
        return run(self.inputs, request)

    def _is_refused(self, name: str, finding: Finding) -> bool:
        identity = identity_of(name, self.originals.finding(name, finding))
        return refused_fix(identity, finding) in self._refused

    def reviewed(self, name: str, finding: Finding) -> Finding:
        """The finding with what is known of it from checks; `finding` stands at its lines in the file as it is."""
        finding = self.originals.finding(name, finding)
        identity = identity_of(name, finding)
        if self.tried.decides(finding):
            return self.tried.reviewed(identity, finding)
        passed = self._passed.get(identity, ())
        for facts in passed:
            finding = with_checked(finding, facts)
        checked = [Obligation(PASSED, Discharge.CHECKED, in_words(passed), finding.span.line)] if passed else []
        refusal = self._refused.get(refused_fix(identity, finding))
        if refusal is None:
            return replace(finding, obligations=(*finding.obligations, *checked))
        violated = Obligation(refusal.claim, Discharge.VIOLATED, refusal.reason, finding.span.line)
        return replace(finding, obligations=(*finding.obligations, violated), advice=finding.advice or refusal.advice)

    def _refuses(self, outcome: Outcome) -> bool:
        """Check what would be written; True when that refuses a fix, so that there is another outcome to check.

        The functions of the recorded run are checked first, then by themselves those whose fixes none of them passed.
        """
        fixes = {fix: entry for fix, entry in self.applied(outcome).items() if not self.tried.decides(entry.finding)}
        refused = len(self._refused)
        self._passed, self._failed = {}, {}
        if fixes and self.evidence is not None:
            self._judge((), outcome)
        left = [_function(fix, entry) for fix, entry in fixes.items() if fix not in self._passed]
        if left and len(self._refused) == refused:
            self._judge(tuple(dict.fromkeys(left)), outcome)
        if len(self._refused) == refused:
            self._refused |= {
                refused_fix(fix, entry.finding): self._failed.get(fix, _NOT_COVERED)
                for fix, entry in fixes.items()
                if fix not in self._passed and (self.strict or entry.finding.safety is not Safety.SAFE)
            }
        return len(self._refused) > refused

    def _judge(self, names: Sequence[str], outcome: Outcome) -> None:
        """Check these functions, or with none those of the recorded run, and take in what that says of each fix."""
        plans = self._plans(names, self.originals.changes(outcome))
        verdicts = self._checked(plans)
        for number, plan in enumerate(plans):
            verdict = verdicts.get(plan.name)
            if verdict is None:
                continue
            name = names[number] if names else ""
            own = {fix: entry for fix, entry in self.applied(outcome).items() if _is_of(plan, name, fix, entry)}
            if verdict.status is Status.DIFFERENT:
                for fix in self._to_blame(names, plan, own):
                    self._refused[refused_fix(fix, own[fix].finding)] = difference(verdict, self.checks.root)
            for fix, entry in own.items():
                as_recorded = plan.job is not None and plan.job.settings.as_recorded and bool(plan.job.seen)
                facts = facts_of(verdict, fix[0], as_recorded=as_recorded)
                finding = self.originals.finding(fix[0], entry.finding)
                if passes(verdict, facts, finding):
                    self._passed[fix] = (*self._passed.get(fix, ()), facts)
                else:
                    self._failed.setdefault(fix, not_passed(verdict, facts, finding))

    def _to_blame(self, names: Sequence[str], plan: Planned, fixes: Mapping[Identity, Entry]) -> Collection[Identity]:
        """The fixes that make a target different when each is made alone; all of them when none does by itself.

        Calls that nobody recorded say nothing against a fix that a recorded run gave the reasons for.
        """
        suspects = [fix for fix, entry in fixes.items() if self._answers_for(plan, entry.finding)]
        if len(fixes) == 1:
            return suspects
        alone = [fix for fix in suspects if self._differs_alone(names, plan.name, fix)]
        return alone if alone or len(suspects) < len(fixes) else suspects

    def _answers_for(self, plan: Planned, finding: Finding) -> bool:
        if not self.wanted.settings.as_recorded or plan.job is None or plan.job.seen:
            return True
        return all(obligation.discharge is not Discharge.OBSERVED for obligation in finding.obligations)

    def _differs_alone(self, names: Sequence[str], target: str, fix: Identity) -> bool:
        request = replace(self.request, unsafe=True, accept=lambda name, entry: self._identity(name, entry) == fix)
        changes = self.originals.changes(self._run(request))
        plans = [plan for plan in self._plans(names, changes) if plan.name == target]
        return any(verdict.status is Status.DIFFERENT for verdict in self._checked(plans).values())

    def _plans(self, names: Sequence[str], changes: Changes) -> Sequence[Planned]:
        """One for each name, or with none those of the recorded run."""

        def planned(*targets: str) -> tuple[Planned, ...]:
            wanted = replace(self.wanted, targets=targets)
            return Planner(wanted, self.checks.root, self.evidence, lambda _files: changes).plans()

        def named(name: str) -> Planned:
            try:
                (plan,) = planned(name)
            except GbfixError as error:
                return Planned(name, problem=str(error))
            return plan

        return [named(name) for name in names] if names else planned()

    def _checked(self, plans: Sequence[Planned]) -> Mapping[str, Verdict]:
        """The verdicts by the names of the targets. What was checked before in this run is not checked again."""
        new = [plan for plan in plans if plan.key not in self._verdicts]
        found = {verdict.target: verdict for verdict in self.checks.run(new).verdicts}
        self._verdicts |= {plan.key: found[plan.name] for plan in new if plan.key and plan.name in found}
        return found | {plan.name: self._verdicts[plan.key] for plan in plans if plan.key in self._verdicts}


def refused_fix(identity: Identity, finding: Finding) -> RefusedFix:
    """What a refusal is about: a rule may have another fix for the same finding."""
    return identity, () if finding.fix is None else tuple(one.source for one in finding.fix.replacements)


def _is_of(plan: Planned, name: str, fix: Identity, entry: Entry) -> bool:
    """True when a target runs a fix; one that cannot be called would run those of the function that it is named for."""
    return _function(fix, entry) == name if plan.job is None else _text(fix) in plan.job.fixes


def _text(fix: Identity) -> str:
    """As a job names its fixes."""
    name, line, _, code = fix
    return f"{display_name(Path(os.path.realpath(name)))}:{line} {code}"


def _function(fix: Identity, entry: Entry) -> str:
    """The outermost function or method around a fix, as a target."""
    return f"{display_name(Path(fix[0]))}:{entry.finding.function.partition('.<locals>')[0]}"
