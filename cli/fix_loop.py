"""The closed loop of `gbfix fix`: run, plan, check, run with the fixes, keep what holds, and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path

from gbfix.analysis.capabilities import Torch
from gbfix.analysis.preferences import Preferences
from gbfix.cli.apply_check import CheckedFixes, RefusedFix
from gbfix.cli.apply_trial import Trial, trial_of
from gbfix.cli.check_entries import Entries
from gbfix.cli.check_facts import Refusal
from gbfix.cli.check_plan import Planned, Planner, Wanted
from gbfix.cli.check_run import Checks
from gbfix.cli.evidence_use import used
from gbfix.cli.fix_attempt import Attempt, Held
from gbfix.cli.fix_behaviour import Behaviour, Reference, behaviour_of
from gbfix.cli.fix_files import files_to_edit
from gbfix.cli.fix_program import Program
from gbfix.cli.fix_shown import Shown
from gbfix.cli.fix_texts import FirstOriginals, Texts
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Outcome
from gbfix.cli.rerun import Rerun
from gbfix.cli.run import Request
from gbfix.cli.tried import Tried
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Finding, Rule
from gbfix.equivalence.model import Settings, Verdict
from gbfix.evidence.model import Evidence

DOCUMENT = "this run"
"""What the reasons of fixes call the evidence, which is in no file yet."""

_GENERATES_CODE = "inductor"
_ROUNDING = 1e-5
"""Another graph is another kernel: with generated code, sums may be rounded in another order."""
_CHECK_SECONDS = 120.0


@dataclass(frozen=True)
class Wishes:
    """What the user asks of `gbfix fix`. rtol: for numbers in the output, None for what the backend calls for."""

    rules: tuple[Rule, ...]
    preferences: Preferences
    torch: Torch
    unsafe: bool = False
    within: tuple[Path, ...] = ()
    max_rounds: int = 8
    rtol: float | None = None
    bench: bool = False


@dataclass(frozen=True)
class Fixed:
    """What the loop came to. before, after: the runs without and with all that is planned in `texts`.

    review: gives a finding with what is known of it from checks and runs (see `Request`). verdicts: of the checks of
    all that is planned. rounds: those that planned something. ended: why the loop ended before everything was tried;
    else empty.
    """

    texts: Texts
    before: Rerun
    after: Rerun
    review: Callable[[str, Finding], Finding]
    verdicts: tuple[Verdict, ...]
    rounds: int
    ended: str
    notes: tuple[str, ...]


@dataclass
class Loop:
    """Fixes one program in rounds; nothing but temporary files is written.

    allowed: raises GbfixError when what is planned could not be written in the end.
    """

    program: Program
    wishes: Wishes
    allowed: Callable[[Texts], None]
    start: Texts = field(default_factory=Texts)
    _refused: dict[RefusedFix, Refusal] = field(default_factory=dict)
    _checked_now: set[str] = field(default_factory=set)
    """The keys of the verdicts that are not from an earlier command."""
    _relies: bool = True
    """Fixes may rely on what the run with them will show, until one did so in vain."""
    _keeps_modules: bool = False
    """A program that shows a difference loads a module that the first run saved."""

    def fixed(self) -> Fixed:
        """Run the loop to its end. Raises GbfixError when the program cannot be run or compiles nothing."""
        texts, before = self.start, self.program.first_run(self.start)
        reference = self._reference(before)
        current, rounds = before, 0
        while True:
            texts = texts.with_files(files_to_edit(current.evidence, self.wishes.within))
            checked = self._checked(texts, current.evidence, before.evidence)
            ended = self._ended(rounds)
            known = (len(self._refused), self._relies)
            held = None if ended else self._round(f"round {rounds + 1}", texts, checked, current, reference)
            if held is not None:
                texts, current = texts.with_outcome(held.outcome), held.run
            elif (len(self._refused), self._relies) == known:  # else there may be other fixes for what was refused now
                break
            rounds += 1
        verdicts = self._verdicts(texts, before.evidence)
        if not self._keeps_modules:
            self.program.forget_modules()
        return Fixed(
            texts,
            before,
            current,
            checked.reviewed,
            verdicts,
            rounds,
            ended or self._out_of_time(),
            tuple(reference.notes),
        )

    def _ended(self, rounds: int) -> str:
        """Why no further round is made, empty when there is no reason."""
        limit = f"the limit of {rounds} rounds was reached" if rounds == self.wishes.max_rounds else ""
        return self._out_of_time() or limit

    def _out_of_time(self) -> str:
        return f"the time limit of {self.program.limit:.0f} seconds was reached" if self.program.is_over else ""

    def _round(
        self, name: str, texts: Texts, checked: CheckedFixes, current: Rerun, reference: Reference
    ) -> Held | None:
        """What holds of the fixes that can be planned now; None when nothing does."""
        self.program.steps.say(f"{name}: {_counted(current.evidence)}; planning and checking fixes")
        outcome = checked.outcome()
        self._checked_now |= checked.keys
        self._keeps_modules |= checked.has_counterexample
        if not checked.applied(outcome):
            return None
        self.allowed(texts.with_outcome(outcome))
        attempt = Attempt(self.program, name, texts, checked, current, reference)
        held = attempt.held(outcome)
        self._relies = self._relies and not attempt.relied_in_vain
        self._refused |= checked.refused
        return held

    def _checked(self, texts: Texts, evidence: Evidence, first: Evidence) -> CheckedFixes:
        """Plans fixes of these texts with what their run showed; checks are made of the functions of the first run."""
        inputs = texts.inputs()
        known = used(evidence, inputs, DOCUMENT)
        shown = Shown(evidence, {display_name(source.path): source.text for source in inputs.sources})
        request = Request(
            self.wishes.rules,
            edit=True,
            unsafe=self.wishes.unsafe,
            preferences=self.wishes.preferences,
            report_unused=False,
            seen=replace(known.seen, runs_again=self._relies),
            torch=self.wishes.torch,
            accept=lambda name, entry: shown.calls_for(name, entry.finding),
        )

        def trial(evidence: Evidence, outcome: Outcome, _seconds: float) -> Trial:
            run = self.program.run(texts.with_outcome(outcome), "running the program with marks of changing sizes")
            return trial_of(run, evidence.exit_status or 0, outcome)

        checked = CheckedFixes(
            inputs,
            request,
            Checks(self.program.root),
            self._wanted(),
            first if _functions(first) else None,
            Tried(inputs, request, evidence, 0.0, trial),
            FirstOriginals(texts, self.allowed),
            strict=False,
        )
        checked.refused.update(self._refused)
        return checked

    def _reference(self, before: Rerun) -> Reference:
        def again() -> Behaviour:
            what = "running the program as it was once more, to see what differs by itself"
            return behaviour_of(self.program.run(self.start, what))

        def eagerly() -> Behaviour:
            what = "running the program as it was without torch.compile, to see what that makes otherwise"
            return behaviour_of(self.program.run(self.start, what, compiled=False))

        rtol = self.wishes.rtol
        if rtol is None:
            backends = {entry.backend or _GENERATES_CODE for entry in before.evidence.entries}
            rtol = _ROUNDING if _GENERATES_CODE in backends else 0.0
        return Reference(behaviour_of(before), again, rtol, eagerly)

    def _wanted(self) -> Wanted:
        database = str(self.program.root / ".gbfix" / "hypothesis")
        return Wanted(Settings(seconds=_CHECK_SECONDS, database=database, as_recorded=True, counts=False))

    def _verdicts(self, texts: Texts, first: Evidence) -> tuple[Verdict, ...]:
        """Check all that is planned at once; what a round checked already is not checked again."""
        changes = texts.changes()
        if not changes or not _functions(first):
            return ()
        wanted = self._wanted()
        wanted = replace(wanted, settings=replace(wanted.settings, bench=self.wishes.bench))
        plans: Sequence[Planned] = Planner(wanted, self.program.root, first, lambda _files: changes).plans()
        verdicts = Checks(self.program.root).run(plans).verdicts
        return tuple(replace(one, earlier=one.earlier and one.key not in self._checked_now) for one in verdicts)


def _functions(evidence: Evidence) -> bool:
    """Whether a run showed compiled functions that are in a file."""
    return bool(Entries(evidence, lambda _file: None).functions())


def _counted(evidence: Evidence) -> str:
    sites, recompiles = len(evidence.breaks), sum(row.count for row in evidence.recompiles)
    return f"{sites} break site{'' if sites == 1 else 's'}, {recompiles} recompile{'' if recompiles == 1 else 's'}"
