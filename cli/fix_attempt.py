"""One round's fixes, tried in a run of the program: all of them, else those that hold."""

from __future__ import annotations

from collections.abc import Sequence

from gbfix.cli.apply_check import CheckedFixes
from gbfix.cli.check_facts import SAME, Refusal
from gbfix.cli.fix_behaviour import Reference, behaviour_of
from gbfix.cli.fix_figures import worse
from gbfix.cli.fix_program import Program
from gbfix.cli.fix_texts import Texts
from gbfix.cli.outcome import Entry, Outcome
from gbfix.cli.rerun import Rerun
from gbfix.cli.tried import Identity
from gbfix.engine.dataclass import dataclass

_UNDONE = "an error would leave undone what compiled functions change"


@dataclass(frozen=True)
class Held:
    """What holds of a round, and the run with it."""

    outcome: Outcome
    run: Rerun


@dataclass
class Attempt:
    """Runs the program with the fixes of one round, and with ever fewer of them until what is left holds.

    current: the run without them. reference: what the program did at first.
    """

    program: Program
    round: str
    texts: Texts
    checked: CheckedFixes
    current: Rerun
    reference: Reference
    relied_in_vain: bool = False
    """Some fix relied on what the run with it would show, and that showed otherwise."""
    _kept: frozenset[Identity] = frozenset()
    _held: Held | None = None

    def held(self, outcome: Outcome) -> Held | None:
        """What holds of an outcome, None for nothing. A fix that fails by itself is refused from now on."""
        self._hold(tuple(self.checked.applied(outcome)), outcome)
        return self._held

    def _hold(self, fixes: Sequence[Identity], outcome: Outcome) -> None:
        made = frozenset(self.checked.applied(outcome))
        if self.program.is_over or not made - self._kept:
            return  # what appears only together with others, the next round sees again
        problem, run = self._tried(outcome, len(made))
        if not problem:
            self._kept, self._held = made, Held(outcome, run)
        elif len(fixes) == 1:
            entry = self.checked.applied(outcome).get(fixes[0])
            if entry is not None:
                self._drop(fixes[0], entry, problem)
        else:
            middle = len(fixes) // 2
            for half in (fixes[:middle], fixes[middle:]):
                self._hold(half, self.checked.outcome_of(self._kept.union(half)))

    def _drop(self, fix: Identity, entry: Entry, problem: str) -> None:
        name, line, _, code = fix
        self.program.steps.say(f"{self.round}: {code} at {name}:{line} is dropped, since with it {problem}")
        if problem.startswith(_UNDONE):
            self.relied_in_vain = True
        else:
            self.checked.refuse(name, entry, Refusal(SAME, f"with it {problem}"))

    def _tried(self, outcome: Outcome, fixes: int) -> tuple[str, Rerun]:
        what = f"{self.round}: running the program with {fixes} fix{'' if fixes == 1 else 'es'}"
        run = self.program.run(self.texts.with_outcome(outcome), what)
        problem = self.reference.difference(behaviour_of(run))
        return problem or worse(self.current.evidence, run.evidence) or self._changed(outcome, run), run

    def _changed(self, outcome: Outcome, run: Rerun) -> str:
        """What graphs with a check change in the run with the fixes, though some rely on it that they do not."""
        changes = [change for change in run.evidence.changes or () if change.raises]
        if run.evidence.changes is not None and not changes:
            return ""
        obligations = (one for entry in self.checked.applied(outcome).values() for one in entry.finding.obligations)
        if not any(one.awaits_run for one in obligations):
            return ""
        changed = f": {changes[0].change}" if changes else ""
        return f"{_UNDONE}{changed}"
