"""Where evidence comes from without running a program: saved traces, saved logs, or evidence that was kept."""

from __future__ import annotations

from pathlib import Path

from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.engine.paths import printable
from gbfix.evidence.hashes import without_changed
from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import read_evidence
from gbfix.evidence.store import load_evidence
from gbfix.evidence.torch_logs import read_torch_logs
from gbfix.evidence.torch_trace import read_torch_trace


def check_choice(command: list[str] | None, saved: Path | None) -> None:
    """Raise ConfigurationError unless there is either a command to run or something saved to read."""
    if saved is not None and command:
        raise ConfigurationError("--from reads what was saved and runs nothing; leave out --from or the command")
    if saved is None and not command:
        raise ConfigurationError(
            "what is to be run? For example: gbfix trace -- train.py --epochs 1 (or read a saved trace: "
            "gbfix trace --from FOLDER)"
        )


def is_evidence(path: Path) -> bool:
    """True for a file that looks like a JSON document, as evidence is, and unlike a trace or a log."""
    try:
        with path.open("rb") as file:
            return file.read(64).lstrip()[:1] == b"{"
    except OSError:
        return False


def read_saved(path: Path, root: Path) -> Evidence:
    """The evidence in a saved file or folder. Raises GbfixError, which names it, when there is none."""
    if not path.exists():
        raise GbfixError(f"{printable(path)}: there is no such file or folder")
    if not (path.is_file() or path.is_dir()):
        raise GbfixError(f"{printable(path)}: is no file; what a pipe or a device gives must be saved to a file first")
    if is_evidence(path):
        return load_evidence(path)
    try:
        notes = list(read_torch_trace(path))
        mode = "torch_trace"
    except GbfixError:
        if path.is_dir():
            raise
        notes = list(read_torch_logs(path))
        mode = "torch_logs"
    written = max(file.stat().st_mtime for file in (path, *(path.rglob("*") if path.is_dir() else ())))
    return without_changed(read_evidence(notes, root=root, mode=mode), written, "after the trace was written")
