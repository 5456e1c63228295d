"""Verdicts on disk, next to the evidence: `.gbfix/checks.json`, so that an equal pair is not checked twice.

Only what was found equal is used again. Something that differs or could not be tested is what a user works on, and what
they change need not be part of the key (a package, the machine); and a time is only worth something when it is fresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gbfix.engine.atomic import write_whole
from gbfix.engine.data_folder import locked, refuse_link
from gbfix.engine.model import WriteError
from gbfix.engine.paths import printable
from gbfix.engine.regular import read_regular
from gbfix.equivalence.model import VERSION, Status, Verdict

_VERDICTS_KEPT = 1000


@dataclass(frozen=True)
class _Document:
    version: int
    verdicts: tuple[msgspec.Raw, ...] = ()


def checks_file(root: Path) -> Path:
    """Where the verdicts of a project are kept; it may not exist."""
    return root / ".gbfix" / "checks.json"


def load_verdicts(root: Path) -> tuple[Verdict, ...]:
    """The verdicts of a project, oldest first. What cannot be read or understood is left out: it is checked again."""
    try:
        document = msgspec.json.decode(read_regular(checks_file(root)), type=_Document)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    if document.version != VERSION:
        return ()
    return tuple(verdict for raw in document.verdicts if (verdict := _verdict(raw)) is not None)


def reusable(verdicts: Sequence[Verdict], key: str) -> Verdict | None:
    """The verdict of an earlier check with this key that says all that a new one would; None for none or no key."""
    if not key:
        return None
    for verdict in reversed(verdicts):
        if verdict.key == key and verdict.status in (Status.EQUAL, Status.CLOSE):
            return verdict
    return None


def save_verdict(root: Path, verdict: Verdict) -> None:
    """Put a verdict into the document of a project, in place of one on the same target, backend and device.

    The oldest ones are dropped when there are too many. Raises WriteError, which names the file.
    """
    path = checks_file(root)
    with locked(root):
        refuse_link(path)
        others = (other for other in load_verdicts(root) if _subject(other) != _subject(verdict))
        kept = [*others, verdict][-_VERDICTS_KEPT:]
        data = msgspec.json.format(msgspec.json.encode({"version": VERSION, "verdicts": kept}), indent=1) + b"\n"
        try:
            write_whole(path, data)
        except OSError as error:
            raise WriteError(f"{printable(path)}: the verdicts cannot be written: {error.strerror}") from error


def _verdict(raw: msgspec.Raw) -> Verdict | None:
    try:
        return msgspec.json.decode(raw, type=Verdict)
    except (msgspec.DecodeError, RecursionError):  # of another gbfix, or edited
        return None


def _subject(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.target, verdict.backend, verdict.device
