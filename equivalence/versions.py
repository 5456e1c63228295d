"""The four processes of a check: the original and the rewritten program, each eager and compiled."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import CheckError, Counts, Job, Mode, Observation, Raised, Setup
from gbfix.equivalence.subject import Subject, SubjectEnded

ENDED = "gbfix.ended"
"""The type of an "exception" that stands for the end of the process: a crash, a hang, os._exit."""


class Versions:
    """Both versions in one mode, called in step: they have seen the same examples at every moment.

    When one of them ends, both are started again before the next example.
    """

    def __init__(self, job: Job, mode: Mode) -> None:
        self._job = job
        self._mode = mode
        self._pair: tuple[Subject, Subject] | None = None

    def setup(self) -> tuple[Setup, Setup]:
        """What the versions are. Raises CheckError when one cannot be loaded; its text says which."""
        original, rewritten = self._started()
        return _named("the original", original), _named("the rewritten program", rewritten)

    def observe(self, example: Example) -> tuple[Observation, Observation]:
        """One call of each, at the same time. The end of a process is an observation, too."""
        pair = self._started()
        for subject in pair:
            subject.send(example)
        observations = tuple(_received(subject) for subject in pair)
        if any(ended(observation) for observation in observations):
            self.close()
        return observations[0], observations[1]

    def counts(self, examples: Sequence[Example]) -> tuple[Counts, Counts]:
        """Graphs, breaks and recompiles of both, each in a fresh process."""
        self.close()
        try:
            original, rewritten = self._started()
            return _counted(original, examples), _counted(rewritten, examples)
        finally:
            self.close()

    def close(self) -> None:
        """End the processes; another call starts new ones, which know nothing of earlier calls."""
        pair, self._pair = self._pair, None
        for subject in pair or ():
            subject.close()

    def pair(self) -> tuple[Subject, Subject]:
        """Original and rewritten, started and loaded. Raises CheckError when one cannot be loaded."""
        pair = self._started()
        self.setup()
        return pair

    def _started(self) -> tuple[Subject, Subject]:
        if self._pair is None:
            job, measure = self._job, self._mode is Mode.EAGER
            original = Subject(
                job.target, job.original, self._mode, job.settings, other_texts=job.rewritten, measure=measure
            )
            rewritten = Subject(job.target, job.rewritten, self._mode, job.settings)
            self._pair = original, rewritten
        return self._pair


def ended(observation: Observation) -> bool:
    """The process ended during the call."""
    return observation.raised is not None and observation.raised.type == ENDED


def _received(subject: Subject) -> Observation:
    try:
        observation: Observation = subject.receive()
    except SubjectEnded as error:
        return Observation(raised=Raised(ENDED, error.how))
    return observation


def _named(name: str, subject: Subject) -> Setup:
    try:
        return subject.setup()
    except CheckError as error:
        raise CheckError(f"{name} cannot be loaded: {error}") from error


def _counted(subject: Subject, examples: Sequence[Example]) -> Counts:
    with suppress(SubjectEnded):
        return subject.counts(examples)
    return replace(Counts(0), raised="the process ended")
