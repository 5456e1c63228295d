"""What git knows about files, asked of the `git` program.

The repository is found without the program, so that a missing or failing git cannot make a file look
as if nothing protected it: the question that needs an answer then raises.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import GbfixError
from gbfix.engine.paths import printable

if TYPE_CHECKING:
    import subprocess

# Set by git for its hooks; they would point every question at the hook's repository and index
# (the list of `git rev-parse --local-env-vars`, as far as it names places).
_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")


@dataclass(frozen=True)
class Listing:
    """The files below a folder that git does not ignore; a nested repository stands as its folder."""

    tracked: tuple[Path, ...]
    untracked: tuple[Path, ...]


def repository_root(path: Path) -> Path | None:
    """The top folder of the repository, worktree or submodule that holds `path`, with symbolic links resolved.

    `path` may be a file, a folder, or not exist. None outside of any repository.
    """
    start = Path(os.path.realpath(path))
    for folder in (start, *start.parents):
        mark = folder / ".git"  # a file in worktrees and submodules
        if os.path.isfile(mark) or os.path.lexists(mark / "HEAD"):
            return folder
    return None


def dirty_files(root: Path, paths: Iterable[Path]) -> frozenset[Path]:
    """Those of `paths` whose staged or working content differs from the last commit.

    Untracked and ignored files are not among them. Files of a submodule must be asked with the submodule
    as `root`. Raises GbfixError when git is missing or cannot tell.
    """
    options = ("--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
    entries = _names(_git(root, "status", *options))
    top = os.path.realpath(root)
    changed = {os.path.join(top, entry[3:]) for entry in entries}  # an entry is "XY path"
    return frozenset(path for path in paths if os.path.realpath(path) in changed)


def tracked_and_unignored(directory: Path) -> Listing:
    """The tracked and the untracked but not ignored files below a folder of a repository.

    Tracked files that were deleted from disk are listed too. Raises GbfixError when git is missing or cannot tell.
    """
    tracked = _names(_git(directory, "ls-files", "--cached", "-z"))
    untracked = _names(_git(directory, "ls-files", "--others", "--exclude-standard", "-z"))
    return Listing(tuple(directory / name for name in tracked), tuple(directory / name for name in untracked))


def commit_of(root: Path, revision: str) -> str | None:
    """The full name of the commit that a revision means ("HEAD", "main~2", ...); None when there is no such commit.

    Raises GbfixError when git is missing.
    """
    # A word that begins like an option would be taken for one.
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    result = _run(root, words)
    return None if result.returncode else result.stdout.decode().strip()


def committed_bytes(path: Path, commit: str = "HEAD") -> bytes | None:
    """What a file held in a commit, as it would be checked out; None when it was not there, or outside of repositories.

    Raises GbfixError when git is missing or cannot tell.
    """
    real = Path(os.path.realpath(path))
    root = repository_root(real)
    if root is None or commit_of(root, commit) is None:
        return None
    name = real.relative_to(root).as_posix()
    if not _git(root, "ls-tree", "-z", commit, "--", f":(literal){name}"):
        return None
    return _git(root, "cat-file", "--filters", f"{commit}:{name}")


def commits_of(path: Path, limit: int) -> tuple[str, ...]:
    """The last commits that changed a file, newest first, at most `limit`; none outside of repositories.

    Raises GbfixError when git is missing or cannot tell.
    """
    real = Path(os.path.realpath(path))
    root = repository_root(real)
    if root is None or commit_of(root, "HEAD") is None:
        return ()
    name = real.relative_to(root).as_posix()
    output = _git(root, "log", f"--max-count={limit}", "--format=%H", "--", f":(literal){name}")
    return tuple(output.decode().split())


def changed_since(root: Path, commit: str) -> tuple[Path, ...]:
    """The tracked files of a repository whose contents on disk differ from those in a commit, deleted ones included.

    Raises GbfixError when git is missing or cannot tell.
    """
    return tuple(root / name for name in _names(_git(root, "diff", "--name-only", "--no-renames", "-z", commit, "--")))


def _names(output: bytes) -> list[str]:
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _git(directory: Path, *arguments: str) -> bytes:
    result = _run(directory, arguments)
    if result.returncode != 0:
        reason = result.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise GbfixError(f"{printable(directory)}: git {arguments[0]} failed: {reason or result.returncode}")
    return result.stdout


def _run(directory: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    import subprocess  # slow to load, and needed only where git is asked

    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    # A question must neither take the index lock from under the user's own git nor be answered in another language.
    environment.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise GbfixError(f"{printable(directory)}: git cannot be run: {error.strerror}") from error
