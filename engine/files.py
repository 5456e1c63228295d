"""Which files a run looks at, and their text.

Reading keeps every byte: what `read_source` gives, `encode_source` turns back into the same file.
"""

from __future__ import annotations

import io
import os
import re
import stat
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from gbfix.engine.dataclass import dataclass
from gbfix.engine.git import Listing, repository_root, tracked_and_unignored
from gbfix.engine.model import ConfigurationError, GbfixError, SourceError
from gbfix.engine.paths import printable
from gbfix.engine.regular import NotRegularError, read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NEVER_SOURCE = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages"})
_BUILD_OUTPUT = frozenset({"build", "dist"})  # source only when somebody put them under version control

_BOM = b"\xef\xbb\xbf"
_CODING_COMMENT = re.compile(rb"[ \t\f]*#.*?coding[:=]")  # language reference, "Encoding declarations"
_LONE_CARRIAGE_RETURN = re.compile("\r(?!\n)")


@dataclass(frozen=True)
class Discovered:
    """The files to look at, sorted, and what could not be looked at."""

    files: tuple[Path, ...]
    problems: tuple[GbfixError, ...]


@dataclass(frozen=True)
class SourceText:
    """The text of a file as Python reads it, but with its line ends, and what is needed to write it back."""

    path: Path
    text: str
    encoding: str
    bom: bool
    """True when the file starts with the UTF-8 mark, which `text` leaves out."""


def discover(paths: Sequence[Path], exclude: Sequence[str], *, base: Path | None = None) -> Discovered:
    """The Python files that `paths` name: each file itself, and the `*.py` files below each folder.

    A file that is named is always taken. Below a folder these are left out: hidden, git-ignored and `exclude`d files,
    virtual environments, `__pycache__`, `node_modules`, `site-packages`, and `build` and `dist` unless tracked by git.
    Links to folders are not followed. Only what lies below the named folder counts: naming a folder of an ignored
    environment is enough to look into it. Where git is missing, nothing counts as git-ignored.

    `exclude` holds patterns as in a .gitignore at `base` (the folder of the configuration; the working
    directory by default), or at the named folder when that is outside of `base` or excluded itself.

    A file is given once, however many paths and links lead to it. What is not there or no regular file, and a
    folder without Python files, is a problem. Raises ConfigurationError for a pattern that is none.
    """
    patterns = _patterns(exclude)
    found = [item for path in paths for item in _found_at(path, patterns, base or Path())]
    files = _each_once(item for item in found if isinstance(item, Path))
    problems = {str(item): item for item in found if isinstance(item, GbfixError)}
    return Discovered(files, tuple(problems.values()))


def read_source(path: Path) -> SourceText:
    """Read a file and decode it as Python does: by its mark or coding comment, else as UTF-8.

    Raises SourceError for a file that cannot be read, decoded, or written back byte for byte, and for what Python or
    line numbers cannot cope with: null bytes and lone carriage returns.
    """
    return decode_source(path, _read(path))


def decode_source(path: Path, data: bytes) -> SourceText:
    """The same for contents that need not be those on disk; `path` stands in messages."""
    null = data.find(b"\0")
    if null >= 0:
        raise _error(path, _line(data, null), "null byte; Python does not read this file, leave it out")
    if b"\r" not in data and not data.startswith(_BOM) and b"coding" not in b"".join(data.split(b"\n", 2)[:2]):
        return SourceText(
            path, _decode(path, data, "utf-8"), "utf-8", bom=False
        )  # as most files, and gives itself back
    encoding = _encoding(path, data)
    bom = data.startswith(_BOM)
    source = SourceText(path, _decode(path, data.removeprefix(_BOM), encoding), encoding, bom)
    lone = _LONE_CARRIAGE_RETURN.search(source.text)
    if lone:
        line = source.text.count("\n", 0, lone.start()) + 1
        raise _error(path, line, "carriage return without line feed; convert the line ends of the file")
    again = encode_source(source, source.text)
    if again != data:
        same = next((index for index, pair in enumerate(zip(again, data, strict=False)) if pair[0] != pair[1]), 0)
        line = _line(data, same)
        raise _error(path, line, f"cannot be written back in {encoding} byte for byte; save the file as UTF-8")
    return source


def encode_source(source: SourceText, text: str) -> bytes:
    """The bytes of the file with `text` in place of its own; `source.text` gives the bytes that were read.

    Raises SourceError when the file's encoding lacks a character of the text.
    """
    try:
        body = text.encode(source.encoding)
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeEncodeError) else 0
        line = text.count("\n", 0, start) + 1
        problem = f"{text[start]!a} cannot be written in {source.encoding}; save the file as UTF-8"
        raise _error(source.path, line, problem) from error
    return _BOM + body if source.bom else body


def _patterns(exclude: Sequence[str]) -> GitIgnoreSpec | None:
    """The patterns, None where there is none."""
    if not exclude:
        return None
    from pathspec import GitIgnoreSpec  # slow to load

    for pattern in exclude:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError as error:
            raise ConfigurationError(f"exclude: {pattern!a} is not a pattern as in a .gitignore") from error
    return GitIgnoreSpec.from_lines(exclude)


@dataclass(frozen=True)
class _Scope:
    """A folder that the user named, and what is left out below it; `prefix` leads there from the patterns' anchor."""

    top: Path
    prefix: PurePosixPath
    patterns: GitIgnoreSpec | None

    def takes(self, file: Path, *, tracked: bool) -> bool:
        """True for a Python file that nothing leaves out."""
        if file.suffix != ".py" or file.name.startswith(".") or self._excluded(file):
            return False
        return all(self.enters(folder, tracked=tracked) for folder in self._folders_around(file))

    def enters(self, folder: Path, *, tracked: bool) -> bool:
        """True for a folder that may hold source, as far as it says itself."""
        if folder.name.startswith(".") or folder.name in _NEVER_SOURCE or os.path.exists(folder / "pyvenv.cfg"):
            return False
        return (tracked or folder.name not in _BUILD_OUTPUT) and not self._excluded(folder, "/")

    def _folders_around(self, path: Path) -> list[Path]:
        depth = len(path.parts) - len(self.top.parts) - 1
        return list(path.parents)[:depth]

    def _excluded(self, path: Path, end: str = "") -> bool:
        return self.patterns is not None and self.patterns.match_file(
            f"{self.prefix / path.relative_to(self.top)}{end}"
        )


def _scope(top: Path, patterns: GitIgnoreSpec | None, base: Path) -> _Scope:
    real_top, real_base = Path(os.path.realpath(top)), Path(os.path.realpath(base))
    prefix = PurePosixPath()
    if real_top.is_relative_to(real_base):
        inside = PurePosixPath(real_top.relative_to(real_base))
        if patterns is None or not patterns.match_file(f"{inside}/"):
            prefix = inside
    return _Scope(top, prefix, patterns)


def _found_at(path: Path, patterns: GitIgnoreSpec | None, base: Path) -> list[Path | GbfixError]:
    """What a path that the user named stands for."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return [GbfixError(f"{printable(path)}: {error.strerror}")]
    if stat.S_ISREG(mode):
        return [path]
    if not stat.S_ISDIR(mode):
        return [GbfixError(f"{printable(path)}: not a regular file; name Python files or folders")]
    scope = _scope(path, patterns, base)
    listing = _listing(path)
    # Git lists nothing of a folder that is ignored as a whole; whoever names it wants to look inside.
    ignored = listing is None or not (listing.tracked or listing.untracked)
    found = list(_walked(scope, path) if listing is None or ignored else _listed(scope, listing))
    reason = "no Python files here (hidden, git-ignored and excluded ones are left out)"
    return found or [GbfixError(f"{printable(path)}: {reason}")]


def _listing(folder: Path) -> Listing | None:
    """What git lists below a folder, None outside of repositories and where git is missing or declines."""
    if repository_root(folder) is None:
        return None
    try:
        return tracked_and_unignored(folder)
    except GbfixError:
        return None


def _listed(scope: _Scope, listing: Listing) -> Iterator[Path | GbfixError]:
    for tracked, paths in ((True, listing.tracked), (False, listing.untracked)):
        for path in paths:
            if os.path.isdir(path) and not os.path.islink(path):  # a submodule or other repository inside
                if scope.takes(path / "any.py", tracked=tracked):
                    yield from _nested(scope, path)
            elif os.path.lexists(path) and scope.takes(path, tracked=tracked):
                yield from _regular(path)


def _nested(scope: _Scope, repository: Path) -> Iterator[Path | GbfixError]:
    listing = _listing(repository) if os.path.exists(repository / ".git") else None
    return _walked(scope, repository) if listing is None else _listed(scope, listing)


def _walked(scope: _Scope, top: Path) -> Iterator[Path | GbfixError]:
    errors: list[OSError] = []
    for name, folder_names, file_names in os.walk(top, onerror=errors.append):
        folder = Path(name)
        entered = [folder / name for name in sorted(folder_names) if scope.enters(folder / name, tracked=False)]
        repositories = [inner for inner in entered if os.path.exists(inner / ".git") and not inner.is_symlink()]
        folder_names[:] = [inner.name for inner in entered if inner not in repositories]
        for file_name in file_names:
            if scope.takes(folder / file_name, tracked=False):
                yield from _regular(folder / file_name)
        for repository in repositories:
            yield from _nested(scope, repository)
    yield from (GbfixError(f"{printable(Path(error.filename))}: {error.strerror}") for error in errors)


def _regular(path: Path) -> Iterator[Path | GbfixError]:
    if os.path.isfile(path):
        yield path
    elif not os.path.isdir(path):
        yield GbfixError(f"{printable(path)}: not a regular file; exclude it")


def _each_once(files: Iterable[Path]) -> tuple[Path, ...]:
    """One path for each real file, rather the file than a link to it."""
    chosen: dict[str, Path] = {}
    for file in sorted(set(files), key=lambda file: (file.is_symlink(), file)):
        chosen.setdefault(os.path.realpath(file), file)
    return tuple(sorted(chosen.values()))


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except NotRegularError as error:
        raise SourceError(f"{printable(path)}: not a regular file; leave it out") from error
    except OSError as error:
        raise SourceError(f"{printable(path)}: cannot be read: {error.strerror}; make it readable") from error


def _encoding(path: Path, data: bytes) -> str:
    """The encoding of a file by the rules of the Python tokenizer."""
    first, _, rest = data.removeprefix(_BOM).partition(b"\n")
    line = 1 if _CODING_COMMENT.match(first) else 2
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if line == 2 and not _CODING_COMMENT.match(rest):
            return "utf-8"  # undecodable bytes in the first lines, which decoding reports better
        raise _error(path, line, f"{error.msg}; correct the coding comment") from error
    name = "utf-8" if name == "utf-8-sig" else name
    if not _keeps_ascii(name):
        raise _error(path, line, f"{name} is no encoding for Python source; correct the coding comment")
    return name


def _keeps_ascii(encoding: str) -> bool:
    """False for UTF-16 and codecs that are not for text, which a coding comment can name but Python cannot read."""
    try:
        return "#".encode(encoding) == b"#"
    except (LookupError, UnicodeError):
        return False


def _decode(path: Path, body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding)
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        problem = f"byte 0x{body[start]:02x} is not {encoding}; save the file as UTF-8 or add a coding comment"
        raise _error(path, _line(body, start), problem) from error


def _line(data: bytes, index: int) -> int:
    return data.count(b"\n", 0, index) + 1


def _error(path: Path, line: int, problem: str) -> SourceError:
    return SourceError(f"{printable(path)}:{line}: {problem}")
