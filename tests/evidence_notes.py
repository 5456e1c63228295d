"""Notes as journals have them, made up for tests of what is read from them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import read_evidence

Notes = dict[str, Any]
PROCESS: Notes = {"kind": "process", "pid": 5, "cwd": "/p"}
ENTRY: Notes = {"kind": "entry", "entry": 1, "function": "f", "function_file": "/p/a.py", "function_line": 3}


def trace(record: Notes, frame: int, compilation: int = 0, payload: str | None = None) -> Notes:
    """A record of the structured trace, made in the first call of the first entry."""
    metadata = {**record, "frame_id": frame, "frame_compile_id": compilation}
    return {"kind": "trace", "metadata": metadata, "payload": payload, "entry": 1, "call": 1}


def started(frame: int, name: str = "f", line: int = 3, compilation: int = 0) -> Notes:
    """A frame of /p/a.py begins to be compiled."""
    stack = [{"name": name, "filename": "/p/a.py", "line": line}]
    return trace({"dynamo_start": {"stack": stack}}, frame, compilation)


def finished(frame: int, compilation: int = 0, **fields: object) -> Notes:
    """It is done, with two operations unless the fields say otherwise; a field of None is left out."""
    metrics = {"graph_op_count": 2, "has_guarded_code": True, **fields}
    kept = {name: value for name, value in metrics.items() if value is not None}
    return trace({"compilation_metrics": kept}, frame, compilation)


def read(notes: Iterable[Notes]) -> Evidence:
    """The evidence of one process, with the root /p, that shut down in order."""
    return read_evidence([PROCESS, *notes, {"kind": "end"}], root=Path("/p"))
