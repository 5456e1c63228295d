"""A version of the program in a process of its own, from outside: start it, ask it, and outlive whatever it does."""

from __future__ import annotations

import io
import pickle
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from gbfix.equivalence.example import Example
from gbfix.equivalence.line import Line, LineError, line_pair
from gbfix.equivalence.model import CheckError, Counts, Mode, Observation, Settings, Setup, Target
from gbfix.equivalence.program import Version
from gbfix.equivalence.serving import ALIVE, ENDED, REFUSED
from gbfix.equivalence.starting import end_version, how_it_ended, start_version
from gbfix.equivalence.stopwatch import BenchRequest

_TIMING_CALLS, _TIMING_SECONDS = 3, 60.0
"""A request for timing makes one call that compiles and many short ones."""
_LOADING_SECONDS = 60.0
"""At least this long for importing a program, whatever the limit for a call is."""

_live: weakref.WeakSet[Subject] = weakref.WeakSet()


class SubjectEnded(CheckError):  # noqa: N818
    """The process of a version is gone. how: as a clause, such as "exited with status 3", "killed by SIGSEGV"."""

    def __init__(self, how: str) -> None:
        super().__init__(f"the program {how}")
        self.how = how


class Subject:
    """One version in one mode. The process starts at once and loads the program when it is first asked something.

    texts: of the files of this version that are not what is on disk. other_texts: those of the version it is compared
    with. measure: note which outcomes the conditions have that differ between the two. The host should not have run an
    operation of torch before: the process is forked where that is possible.
    """

    def __init__(
        self,
        target: Target,
        texts: Mapping[str, str],
        mode: Mode,
        settings: Settings,
        *,
        other_texts: Mapping[str, str] | None = None,
        measure: bool = False,
    ) -> None:
        version = Version(target, dict(texts), mode, settings, dict(other_texts or {}), measure)
        self._settings = settings
        self._setup: Setup | None = None
        self.descriptor: int
        """Of the line to the process."""
        self._end: weakref.finalize[..., Subject]
        self._ended = ""
        self._limits: list[float] = []
        self._folder = tempfile.mkdtemp(prefix="gbfix-version-")
        here, there, mark = line_pair()
        self._line = Line(here, mark)
        self.descriptor = here.fileno()
        lines = [self.descriptor, *(each.descriptor for each in _live if each._end.alive)]
        self._process = start_version(there, mark, version, self._folder, lines)
        there.close()
        self._end = weakref.finalize(self, end_version, self._process, self._line, self._folder)
        _live.add(self)
        self._ask("setup", (), max(_LOADING_SECONDS, settings.call_seconds))

    def setup(self) -> Setup:
        """What the version is. Waits for the program to be loaded.

        Raises CheckError when the program cannot be loaded, with file, line, type and text, and SubjectEnded.
        """
        if self._setup is None:
            if not self._limits:
                self._ask("setup", (), _LOADING_SECONDS)
            self._setup = self._answer()
        return self._setup

    def send(self, request: Example | BenchRequest) -> None:
        """Ask without waiting: for two calls with an example, or for timing. Every `send` wants its `receive`.

        Raises CheckError when the program cannot be loaded.
        """
        if isinstance(request, Example):
            self._after_loading("observe", request, self._settings.call_seconds)
        else:
            self._after_loading("bench", request, _TIMING_CALLS * self._settings.call_seconds + _TIMING_SECONDS)

    def receive(self) -> Any:  # noqa: ANN401
        """The answer to the last `send`: an Observation, or what `stopwatch` says.

        Raises SubjectEnded, and CheckError for what cannot be answered.
        """
        return self._answer()

    def observe(self, example: Example) -> Observation:
        """Two calls with the same example. Raises SubjectEnded, and CheckError when it cannot be called."""
        self.send(example)
        observation: Observation = self.receive()
        return observation

    def counts(self, examples: Sequence[Example]) -> Counts:
        """Graphs, breaks and recompiles over these calls, once per process; in compiled mode.

        Raises SubjectEnded and CheckError.
        """
        limit = self._settings.call_seconds * (2 * len(examples) + 2)
        self._after_loading("counts", tuple(examples), limit)
        counts: Counts = self.receive()
        return counts

    def close(self) -> None:
        """End the process and everything it started. Does no harm a second time."""
        self._ended = self._ended or "was closed"
        self._end()

    # -- asking ----------------------------------------------------------------------------------

    def _after_loading(self, name: str, argument: object, limit: float) -> None:
        with suppress(SubjectEnded):  # `receive` then says so
            self.setup()
        self._ask(name, (argument,), limit)

    def _ask(self, name: str, arguments: tuple[Any, ...], limit: float) -> None:
        self._limits.append(limit)
        if self._ended:
            return
        message = pickle.dumps((name, arguments))
        with suppress(LineError):  # it ended; the answer is not coming
            if self._process.is_alive():
                self._line.send(message)

    def _answer(self) -> Any:  # noqa: ANN401
        limit = self._limits.pop(0) if self._limits else self._settings.call_seconds
        if self._ended:
            raise SubjectEnded(self._ended)
        while True:
            kind, value = self._message(limit)
            if kind == REFUSED:
                raise CheckError(value)
            if kind == ENDED:
                self._lost(value)
            if kind != ALIVE:
                return value

    def _message(self, limit: float) -> tuple[str, Any]:
        try:
            message = self._line.receive_until(time.monotonic() + limit, self._process.is_alive)
        except TimeoutError:
            self._lost(f"did not answer within {limit:g} s")
        except LineError as error:
            self._lost(how_it_ended(self._process, self._folder, str(error)))
        try:
            kind, value = _Answer(io.BytesIO(message)).load()
        except Exception:
            self._lost("wrote into its line to gbfix")
        return kind, value

    def _lost(self, how: str) -> Any:  # noqa: ANN401
        self.close()
        self._ended = how
        raise SubjectEnded(how)


class _Answer(pickle.Unpickler):
    """Reads answers of a process that ran foreign code: of classes only gbfix's own."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if module.partition(".")[0] != "gbfix":
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an answer")
        return super().find_class(module, name)
