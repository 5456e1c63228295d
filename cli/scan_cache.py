"""What a scan of many files found, kept for the next scan of the same contents with the same settings.

A result is kept under a hash of everything that it depends on, so that nothing is ever out of date: the names and
contents of all files, the settings, Python, and gbfix itself. The folder can be deleted at any moment.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gbfix.cli.outcome import Entry, FileOutcome, Outcome
from gbfix.cli.run import Request
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import SourceText
from gbfix.engine.model import Finding

_MOST_RESULTS = 32
_FOLDER_VARIABLE = "GBFIX_CACHE_DIR"


@dataclass(frozen=True)
class _KeptFile:
    path: str
    findings: tuple[Finding, ...]
    unused_suppressions: tuple[int, ...]


@dataclass(frozen=True)
class _Kept:
    files: tuple[_KeptFile, ...]
    problems: tuple[str, ...]
    compiled_functions: int
    plain_files: int
    notes: tuple[str, ...]


def cache_folder() -> Path:
    """Where results are kept: in the folder that GBFIX_CACHE_DIR names, else in that of the user for caches."""
    import platformdirs

    return Path(os.environ.get(_FOLDER_VARIABLE) or platformdirs.user_cache_dir("gbfix", appauthor=False)) / "scans"


def key_of(files: Sequence[Path], problems: Iterable[object], request: Request) -> str | None:
    """The name of the result of a scan, None when a file cannot be read."""
    found = hashlib.sha256(repr((sys.version, _gbfix())).encode())
    rules = tuple(rule.code for rule in request.rules)
    torch = (request.torch.version, getattr(request.torch.ask, "__qualname__", type(request.torch.ask).__name__))
    settings = (rules, request.assume_compiled, request.preferences, request.report_unused, torch, os.getcwd())
    found.update(repr((settings, [str(problem) for problem in problems], len(files))).encode("utf-8", "surrogatepass"))
    for path in files:
        try:
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).digest()
        except OSError:
            return None
        found.update(os.fsencode(path) + b"\0" + content)
    return found.hexdigest()


def kept_outcome(key: str) -> Outcome | None:
    """The result of an earlier scan, None when there is none, or none that can be read."""
    try:
        kept = msgspec.json.decode((cache_folder() / f"{key}.json").read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return Outcome(tuple(map(_file, kept.files)), kept.problems, kept.compiled_functions, kept.plain_files, kept.notes)


def keep_outcome(key: str, outcome: Outcome) -> None:
    """Keep the result of a scan, and the youngest others; nothing is kept where that is not possible."""
    files = tuple(
        _KeptFile(str(file.source.path), tuple(entry.finding for entry in file.remaining), file.unused_suppressions)
        for file in outcome.files
    )
    kept = _Kept(files, outcome.problems, outcome.compiled_functions, outcome.plain_files, outcome.notes)
    with suppress(OSError, UnicodeEncodeError, msgspec.MsgspecError):
        data = msgspec.json.encode(kept)
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, folder / f"{key}.json")  # whole or not at all, also for another gbfix
        for old in sorted(folder.iterdir(), key=_age, reverse=True)[_MOST_RESULTS:]:
            old.unlink(missing_ok=True)


def _file(kept: _KeptFile) -> FileOutcome:
    source = SourceText(Path(kept.path), "", "utf-8", bom=False)  # a report of a scan shows no text
    return FileOutcome(source, "", (), tuple(map(Entry, kept.findings)), kept.unused_suppressions)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _gbfix() -> list[tuple[str, int, int]]:
    """The files of gbfix, with their sizes and times: a version in development changes without its number."""
    here = Path(__file__).resolve().parent.parent
    files = (
        path for folder in ("analysis", "cli", "codemods", "engine") for path in sorted((here / folder).glob("*.py"))
    )
    return [(str(path), (at := path.stat()).st_size, at.st_mtime_ns) for path in files]
