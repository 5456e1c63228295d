"""What Dynamo compiles meanwhile, read by the same code as under `gbfix trace`: a break there is one here.

PyTorch's own counters miss breaks at jumps that depend on data and frames that are skipped.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gbfix.evidence import recompiles, trace_records
from gbfix.evidence.fragments import NOTHING_TO_COMPILE
from gbfix.evidence.journal import Journal
from gbfix.evidence.model import Evidence, Fragment, Place
from gbfix.evidence.reader import read_evidence

_HOOK = "trace_structured"


class CompileRecords:
    """The records of the compilations in a context of `recorded`."""

    def __init__(self, notes: _Notes, root: Path) -> None:
        self._notes = notes
        self._root = root

    def evidence(self) -> Evidence:
        """Everything up to now."""
        return read_evidence(self._notes.written, root=self._root)


@contextlib.contextmanager
def recorded(root: Path) -> Iterator[CompileRecords]:
    """Record what is compiled in this context, and leave PyTorch as it was.

    root: files below this folder are named relative to it.
    """
    from torch import _logging

    notes = _Notes()
    original: Any = vars(_logging)[_HOOK]
    try:
        trace_records.install(notes)
        _replace(original, vars(_logging)[_HOOK])
        yield CompileRecords(notes, root)
    finally:
        _replace(vars(_logging)[_HOOK], original)


def given_up(evidence: Evidence) -> tuple[Fragment, ...]:
    """What Dynamo runs in Python although there was something to compile."""
    return tuple(part for part in evidence.fragments if part.skipped not in ("", NOTHING_TO_COMPILE))


def skipped_frames(evidence: Evidence) -> int:
    """How many code objects Dynamo gave up on although there was something to compile."""
    return _distinct(part.place for part in given_up(evidence))


def limit_hits(evidence: Evidence) -> int:
    """How many functions were recompiled so often that Dynamo gave them up."""
    return len(recompiles.given_up(evidence.recompiles))


def _distinct(places: Iterable[Place]) -> int:
    return len({(place.file, place.line, place.function) for place in places})


def _replace(present: object, wanted: object) -> None:
    """Set the function in every module that has imported it."""
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get(_HOOK) is present:
            vars(module)[_HOOK] = wanted


class _Notes(Journal):
    """A journal in memory."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    def write(self, kind: str, **fields: object) -> None:
        self.written.append({"kind": kind, **json.loads(json.dumps(fields, default=str))})

    def write_header(self, kind: str, **fields: object) -> None:
        self.write(kind, **fields)
