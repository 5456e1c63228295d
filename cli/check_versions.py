"""The two versions that a check compares, file by file: where the original comes from, and where the rewritten one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gbfix.cli.check_reach import is_own, own_part
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Outcome
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import decode_source, read_source
from gbfix.engine.git import changed_since, commit_of, commits_of, committed_bytes, repository_root
from gbfix.engine.model import ConfigurationError, Finding
from gbfix.engine.undo import RecordedFile, recorded_files
from gbfix.evidence.overlay import check_overlay, overlay_folder

DISK = "disk"
_COMMITS_SEARCHED = 50


@dataclass(frozen=True)
class Version:
    """One version of a file. origin: where it comes from, in words for people."""

    text: str
    origin: str = DISK


@dataclass(frozen=True)
class Change:
    """A file in both versions. fixes: the findings whose fixes lead from one to the other, as far as they are known."""

    original: Version
    rewritten: Version
    fixes: tuple[Finding, ...] = ()


Changes = Mapping[Path, Change]
"""By file, absolute with links resolved; only files whose versions differ."""


def words(changes: Changes) -> str:
    """Which versions were compared: "original: disk; rewritten: 2 pending fixes"."""
    fixes = sum(len(change.fixes) for change in changes.values())
    pending = f"{fixes} pending fix{'' if fixes == 1 else 'es'}"
    originals = ", ".join(dict.fromkeys(change.original.origin for change in changes.values()))
    rewritten = ", ".join(dict.fromkeys(change.rewritten.origin or pending for change in changes.values()))
    return f"original: {originals}; rewritten: {rewritten}"


def fixes_in(changes: Changes) -> tuple[str, ...]:
    """The fixes of a change as "file:line CODE"."""
    return tuple(
        f"{display_name(file)}:{finding.span.line} {finding.code}"
        for file, change in changes.items()
        for finding in change.fixes
    )


def apart_in(changes: Changes) -> tuple[str, ...]:
    """The attributes that fixes make earlier, or keep as objects of their own."""
    return tuple(sorted({name for change in changes.values() for finding in change.fixes for name in finding.apart}))


def own_changes(changes: Changes, names: frozenset[str]) -> dict[Path, Change]:
    """What is left of changes in the functions that these names lead to (see `check_reach`)."""
    found = {}
    for file, change in changes.items():
        text = own_part(change.original.text, change.rewritten.text, names)
        if text != change.original.text:
            fixes = tuple(finding for finding in change.fixes if is_own(finding.function, names))
            found[file] = replace(change, rewritten=replace(change.rewritten, text=text), fixes=fixes)
    return found


def pending(outcome: Outcome) -> dict[Path, Change]:
    """What `gbfix apply` would write; an empty origin stands for the number of fixes."""
    return {
        Path(os.path.realpath(file.source.path)): Change(
            Version(file.source.text), Version(file.after, ""), tuple(entry.finding for entry in file.applied)
        )
        for file in outcome.files
        if file.changed
    }


def applied(files: Iterable[Path], root: Path, digests: Mapping[Path, str]) -> dict[Path, Change]:
    """What was written already: files on disk that have an original in a record of `gbfix apply`, in git or in a run.

    root: whose undo records are looked at. digests: the SHA-256 that files had when a run was recorded. Raises
    GbfixError for a damaged record, for git that cannot tell, and for an original that is not text.
    """
    records = recorded_files(root)
    return _changes((file, _before(file, records, digests.get(file)), None) for file in sorted(files))


def text_with_digest(file: Path, digest: str, root: Path) -> str | None:
    """The text that a file had with this SHA-256: on disk, in a record of `gbfix apply`, or in git; None for nowhere.

    Raises GbfixError as `applied` does.
    """
    found = (file.read_bytes(), DISK) if file.is_file() else None
    if found is None or _digest(found[0]) != digest:
        found = _with_digest(file, recorded_files(root), digest)
    return None if found is None else decode_source(file, found[0]).text


def overlaid(root: Path) -> dict[Path, Change]:
    """The copies in the overlay of a project. Raises GbfixError when there is none, or when it is out of date."""
    folder = overlay_folder(root)
    copies = {Path(file.original): folder / file.copy for file in check_overlay(folder)}
    changes = ((file, None, (copy.read_bytes(), "copy in the overlay")) for file, copy in copies.items())
    return _changes(changes)


def given(original: str | None, rewritten: str | None, target: Path, root: Path) -> dict[Path, Change]:
    """The versions that the user names; what is not named is on disk.

    A file stands for that of the target, a folder for the project's; the original can also be a revision of git.
    Raises ConfigurationError for what is none of them, and for a folder without the target's file.
    """
    first = {} if original is None else _named(original, target, root, "--original")
    second = {} if rewritten is None else _named(rewritten, target, root, "--rewritten")
    return _changes((file, first.get(file), second.get(file)) for file in sorted({*first, *second}))


_Bytes = tuple[bytes, str]
"""The contents of a version, and where it comes from."""


def _changes(versions: Iterable[tuple[Path, _Bytes | None, _Bytes | None]]) -> dict[Path, Change]:
    """The files whose versions differ; None stands for what is on disk."""
    found = {}
    for file, original, rewritten in versions:
        if (original is None and rewritten is None) or not file.is_file():
            continue
        change = Change(_version(file, original), _version(file, rewritten))
        if change.original.text != change.rewritten.text:
            found[file] = change
    return found


def _version(file: Path, contents: _Bytes | None) -> Version:
    if contents is None:
        return Version(read_source(file).text)
    data, origin = contents
    return Version(decode_source(file, data).text, origin)


def _before(file: Path, records: Sequence[RecordedFile], digest: str | None) -> _Bytes | None:
    """What a file held before it was rewritten; None when nothing tells of another content."""
    now = file.read_bytes()
    for record in records:
        if record.path == file and record.after == _digest(now):
            return record.before, "before the last `gbfix apply`"
    committed = committed_bytes(file)
    if committed is not None and committed != now:
        return committed, "git HEAD"
    if not digest or digest == _digest(now):
        return None
    return _with_digest(file, records, digest)


def _with_digest(file: Path, records: Sequence[RecordedFile], digest: str) -> _Bytes | None:
    origin = "as it was when the run was recorded"
    for record in records:
        if record.path == file and _digest(record.before) == digest:
            return record.before, origin
    for commit in commits_of(file, _COMMITS_SEARCHED):
        data = committed_bytes(file, commit)
        if data is not None and _digest(data) == digest:
            return data, f"{origin} (git {commit[:8]})"
    return None


def _named(name: str, target: Path, root: Path, option: str) -> dict[Path, _Bytes]:
    path = Path(name)
    if path.is_file():
        return {target: (path.read_bytes(), display_name(path))}
    if path.is_dir():
        return _from_folder(Path(os.path.realpath(path)), target, root, option)
    if option == "--original":
        return _from_revision(name, target)
    raise ConfigurationError(f"{option} {name}: there is no such file or folder")


def _from_folder(folder: Path, target: Path, root: Path, option: str) -> dict[Path, _Bytes]:
    """The files of another tree; it may stand for the repository or for any folder around the target."""
    for top in (root, *target.parents):
        if target.is_relative_to(top) and (folder / target.relative_to(top)).is_file():
            break
    else:
        reason = f"has no {target.name} in the place of {display_name(target)}"
        raise ConfigurationError(f"{option} {display_name(folder)}: {reason}; name the folder of a whole project")
    files = (file for file in folder.rglob("*.py") if not _is_hidden(file.relative_to(folder)))
    return {top / file.relative_to(folder): (file.read_bytes(), display_name(folder)) for file in files}


def _from_revision(revision: str, target: Path) -> dict[Path, _Bytes]:
    repository = repository_root(target)
    commit = None if repository is None else commit_of(repository, revision)
    if repository is None or commit is None:
        raise ConfigurationError(f"--original {revision}: is no file, no folder, and no revision of git")
    found = {}
    for file in changed_since(repository, commit):
        data = committed_bytes(file, commit) if file.suffix == ".py" else None
        if data is not None:
            found[file] = (data, f"git {revision}")
    return found


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
