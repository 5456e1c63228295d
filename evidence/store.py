"""Evidence on disk: one JSON document that people can read."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gbfix.engine.atomic import write_whole
from gbfix.engine.model import GbfixError, WriteError
from gbfix.engine.paths import printable
from gbfix.engine.regular import read_regular
from gbfix.evidence.model import VERSION, Evidence

_RUN_AGAIN = "run `gbfix trace -- CMD` again"


class _Version(msgspec.Struct):
    """What every version of the document has."""

    version: int
    root: str


def find_evidence(root: Path) -> Path:
    """Where the evidence of a project is kept unless a file is named: .gbfix/evidence.json; it may not exist."""
    return root / ".gbfix" / "evidence.json"


def save_evidence(evidence: Evidence, path: Path) -> None:
    """Write a document, so that the file is old or new at every moment. Raises WriteError, which names the file."""
    data = msgspec.json.format(msgspec.json.encode(evidence), indent=1) + b"\n"
    try:
        write_whole(path, data)
    except OSError as error:
        raise WriteError(f"{printable(path)}: the evidence cannot be written: {error.strerror}") from error


def load_evidence(path: Path) -> Evidence:
    """Read a document back. Raises GbfixError, which names the file and says what to do, when it is none."""
    name = printable(path)
    try:
        data = read_regular(path)
    except OSError as error:
        raise GbfixError(f"{name}: no evidence can be read: {error.strerror}; {_RUN_AGAIN}") from error
    try:
        version = msgspec.json.decode(data, type=_Version).version
    except (msgspec.ValidationError, RecursionError) as error:
        raise GbfixError(f"{name}: is JSON, but no evidence of gbfix; {_RUN_AGAIN}, or name another file") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GbfixError(f"{name}: is cut off or no JSON ({error}); {_RUN_AGAIN}, or name another file") from error
    if version > VERSION:
        raise GbfixError(f"{name}: was written by a newer gbfix (version {version} of the document); update gbfix")
    try:
        return msgspec.json.decode(data, type=Evidence)
    except (msgspec.DecodeError, RecursionError) as error:
        raise GbfixError(f"{name}: is no evidence that this gbfix understands ({error}); {_RUN_AGAIN}") from error
