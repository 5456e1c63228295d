"""What a program does for all to see, and whether it does the same with fixes."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import zip_longest

from gbfix.cli.apply_trial import last_line
from gbfix.cli.rerun import Rerun
from gbfix.engine.dataclass import dataclass

_TORCH_LOG = re.compile(r"^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ ")
_TORCH_FILE = re.compile(r"[\\/](?:site|dist)-packages[\\/]torch[\\/].*?:\d+: |^<eval_with_key>\.\d+:\d+: ")
"""Its own files, and the source that it makes of graphs."""
_LINE_NUMBER = re.compile(r'(\.py)(?:", line|:)\s?\d+')
_WARNING = re.compile(r"(?:\.py|^<eval_with_key>\.\d+):\d+: \w+: ")
_WARNING_WITHOUT_LINE = re.compile(r"\.py: \w+: ")
_TRACEBACK = "Traceback (most recent call last):"
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PLACE = re.compile(r"(?P<file>.*?\.py):(?P<line>\d+): ")
_LONGEST_LINE = 120
_LONGEST_WARNING = 40


@dataclass(frozen=True)
class Behaviour:
    """How a run ended and what it wrote, without what the place of a line in a file decides."""

    status: int | None
    output: tuple[str, ...]
    errors: tuple[str, ...]
    last: str = field(compare=False)


def behaviour_of(run: Rerun) -> Behaviour:
    """What can be compared of a run. PyTorch's own log lines and warnings are left out: they tell of compilations."""
    texts = []
    for data in (run.output, run.errors):
        text = data.decode(errors="replace")
        for original, copy in run.copies.items():
            text = text.replace(str(copy), str(original))
        texts.append(tuple(_without_places(text.splitlines())))
    return Behaviour(run.status, texts[0], texts[1], last_line(run.text))


def _without_places(lines: Sequence[str]) -> list[str]:
    """Lines without line numbers of source, the source that tracebacks and warnings quote, and PyTorch's own."""
    kept: list[str] = []
    quoting = in_traceback = False
    own_until = -1
    for number, line in enumerate(lines):
        indented = line[:1] in (" ", "\t")
        if number <= own_until or (quoting and not line):
            continue  # some warnings end with a line of their own, before the source
        if indented and (quoting or in_traceback):
            quoting = False
            continue
        in_traceback = line.startswith(_TRACEBACK)
        quoting = _WARNING.search(line) is not None
        if _TORCH_LOG.match(line) or _TORCH_FILE.search(line):
            own_until = _end_of_warning(lines, number)
            quoting = quoting and own_until == number
            continue
        kept.append(_LINE_NUMBER.sub(r"\1", line))
    return kept


def _end_of_warning(lines: Sequence[str], first: int) -> int:
    """The last line of a warning of PyTorch's own that begins here: the source of the line that gave it."""
    place = _PLACE.match(lines[first])
    source = linecache.getline(place["file"], int(place["line"])).strip() if place else ""
    following = range(first + 1, min(first + _LONGEST_WARNING, len(lines)))
    return next((number for number in following if source and lines[number].strip() == source), first)


@dataclass
class Reference:
    """What the original program did. again: runs it once more, to see what differs by itself from run to run.

    rtol: how much numbers in the output may differ, relative to their size; 0 for not at all. eagerly: runs it once
    without torch.compile: what it writes then is right as well, where torch.compile made something else of it.
    """

    first: Behaviour
    again: Callable[[], Behaviour]
    rtol: float = 0.0
    eagerly: Callable[[], Behaviour] | None = None
    notes: list[str] = field(default_factory=list)
    """What the user should know about how far the comparison goes."""
    _second: Behaviour | None = None
    _eager: Behaviour | None = None

    def difference(self, other: Behaviour) -> str:
        """What a run does otherwise than the original, in words; empty when there is nothing."""
        errors = _without_repeats(other.errors, self.first.errors)
        if len(errors) < len(other.errors):
            other = replace(other, errors=errors)
            if _REPEATS not in self.notes:
                self.notes.append(_REPEATS)
        found = self._difference(other)
        if not found or other.status is None:
            return found
        if self._second is None:
            self._second = self.again()
            self.notes += self._unsteady(self._second)
        found = self._difference(other)
        if not found or self.eagerly is None:
            return found
        if self._eager is None:
            self._eager = self.eagerly()
        found = self._difference(other, self._eager)
        if not found and _AS_EAGERLY not in self.notes:
            self.notes.append(_AS_EAGERLY)
        return found

    def _difference(self, other: Behaviour, eager: Behaviour | None = None) -> str:
        first = self.first
        if other.status is None:
            return "it was not done in time"
        if other.status != first.status and (self._second is None or self._second.status == first.status):
            return f"it ends with status {other.status} instead of {first.status}: {other.last}"
        second, eager = self._second or first, eager or first
        return self._of_stream("output", first.output, second.output, other.output, eager.output) or self._of_stream(
            "errors", first.errors, second.errors, other.errors, eager.errors
        )

    def _of_stream(
        self, name: str, first: Sequence[str], second: Sequence[str], other: Sequence[str], eager: Sequence[str]
    ) -> str:
        if len(first) != len(second):
            return ""  # how much is written differs by itself
        eager = eager if len(eager) == len(first) else first
        for number, (a, b, c, d) in enumerate(zip_longest(first, second, other, eager)):
            if a == b and c not in (a, d) and not (c and any(one and self._close(one, c) for one in (a, d))):
                shown = ("nothing" if line is None else repr(line[:_LONGEST_LINE]) for line in (c, a))
                return f"it writes {' instead of '.join(shown)} (line {number + 1} of its {_STREAMS[name]})"
        return ""

    def _close(self, line: str, other: str) -> bool:
        if not self.rtol or _NUMBER.sub("#", line) != _NUMBER.sub("#", other):
            return False
        pairs = zip(_NUMBER.findall(line), _NUMBER.findall(other), strict=True)
        return all(abs(float(a) - float(b)) <= self.rtol * abs(float(a)) for a, b in pairs)

    def _unsteady(self, second: Behaviour) -> list[str]:
        first = self.first
        if first.status != second.status:
            return [f"without any fix the program ended with status {first.status}, then with {second.status}"]
        notes = []
        for name, one, two in (("output", first.output, second.output), ("errors", first.errors, second.errors)):
            if len(one) != len(two):
                notes.append(f"the program's {_STREAMS[name]} has another length in each run: it is not compared")
            elif lines := sum(a != b for a, b in zip(one, two, strict=True)):
                of = f"{lines} of {len(one)} lines"
                notes.append(f"{of} of the program's {_STREAMS[name]} differ from run to run: they are not compared")
        return notes


def _without_repeats(lines: tuple[str, ...], first: Sequence[str]) -> tuple[str, ...]:
    """Lines without the warnings that were shown as often before as in all of another run.

    Python shows a warning once for each place, but once more after anybody has touched the filters, as
    `warnings.catch_warnings` does (Python's documentation of `warnings`), and PyTorch does while it compiles.
    """
    kept: list[str] = []
    for line in lines:
        is_warning = _WARNING_WITHOUT_LINE.search(line) is not None
        if not (is_warning and line in first and kept.count(line) >= first.count(line)):
            kept.append(line)
    return tuple(kept)


_REPEATS = (
    "with fixes, Python shows a warning once more than it did: PyTorch touches the filters of warnings when it compiles"
)
_AS_EAGERLY = "with fixes, the program writes in places what it writes without torch.compile, which it did not before"
_STREAMS = {"output": "output", "errors": "standard error"}
