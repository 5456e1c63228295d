"""What Dynamo compiles while a test runs, read by the same code as under `gbfix trace`: a break there is one here.

PyTorch's own counters miss breaks at jumps that depend on data and frames that are skipped.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gbfix.evidence import trace_records
from gbfix.evidence.journal import Journal
from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import read_evidence

_HOOK = "trace_structured"


class CompileRecords:
    """The records of the compilations in a context of `recorded`."""

    def __init__(self, notes: _Notes) -> None:
        self._notes = notes

    def evidence(self) -> Evidence:
        """Everything up to now; files in the working directory are named relative to it."""
        return read_evidence(self._notes.written, root=Path.cwd())


@contextlib.contextmanager
def recorded() -> Iterator[CompileRecords]:
    """Record what is compiled in this context, and leave PyTorch as it was."""
    from torch import _logging

    notes = _Notes()
    original: Any = vars(_logging)[_HOOK]
    try:
        trace_records.install(notes)
        _replace(original, vars(_logging)[_HOOK])
        yield CompileRecords(notes)
    finally:
        _replace(vars(_logging)[_HOOK], original)


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
