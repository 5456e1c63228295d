"""What the calls of a generated program show at its lines, as `gbfix trace` would have recorded them.

The lines that `gbfix.evidence.candidates` names are watched while the calls run in Python, and described by what
describes a running frame of a program under observation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import msgspec

from gbfix.analysis.observations import Observation
from gbfix.analysis.observed import Observed, by_line
from gbfix.evidence.candidates import Candidate, candidate_lines
from gbfix.evidence.frame_values import read_frame

MOST_RUNS = 20
"""Of one line that are looked at."""


def observed_lines(text: str, name: str, run: Callable[[], object]) -> Mapping[int, Observed]:
    """What held at the lines of a program while `run` ran it as a file called `name`."""
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_text(text, newline="")
        lines = dict(candidate_lines(str(file)))
    found: list[Observation] = []
    with _watching(name, lines, found):
        run()
    return by_line(found)


@contextmanager
def _watching(name: str, lines: Mapping[int, Candidate], found: list[Observation]) -> Iterator[None]:
    runs: dict[int, int] = {}

    def in_frame(frame: FrameType, event: str, _argument: object) -> Any:
        candidate = lines.get(frame.f_lineno)
        if event == "line" and candidate is not None and candidate.line == frame.f_lineno:
            runs[candidate.line] = runs.get(candidate.line, 0) + 1
            if runs[candidate.line] <= MOST_RUNS:
                facts = {"file": name, "line": candidate.line, **read_frame(frame, candidate)}
                found.append(msgspec.convert(facts, Observation))
        return in_frame

    def on_call(frame: FrameType, _event: str, _argument: object) -> Any:
        return in_frame if frame.f_code.co_filename == name else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)
