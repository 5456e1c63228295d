"""The folder `.gbfix/` at a root, where gbfix keeps what it must remember, and the lock in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gbfix.engine.model import WriteError
from gbfix.engine.paths import printable


def data_folder(root: Path) -> Path:
    """The `.gbfix` folder of a root, made when it is missing, with a `.gitignore` so that git does not show it.

    Raises WriteError when it cannot be made, and when a symbolic link stands in its place.
    """
    folder = root / ".gbfix"
    ignore = folder / ".gitignore"
    refuse_link(folder)
    refuse_link(ignore)
    try:
        folder.mkdir(exist_ok=True)
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise WriteError(f"{printable(folder)}: cannot be made: {error.strerror}") from error
    return folder


def refuse_link(path: Path) -> None:
    """Raise WriteError for a symbolic link in the data folder: it may come with a repository and lead anywhere."""
    if path.is_symlink():
        raise WriteError(f"{printable(path)}: is a symbolic link; remove it")


@contextmanager
def locked(root: Path, wait_seconds: float = 10) -> Iterator[Path]:
    """Hold the lock of a root, so that two gbfix do not write there at once; gives the data folder.

    The system frees the lock when the holder dies. Raises WriteError when it cannot be had in time.
    """
    # Slow to load, and needed only where something is written.
    from filelock import FileLock, Timeout

    folder = data_folder(root)
    refuse_link(folder / "lock")  # old releases of filelock empty the file that it leads to
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=wait_seconds)
    except Timeout as error:
        raise WriteError(f"{printable(root)}: another gbfix is writing here; run again when it is done") from error
    except (OSError, NotImplementedError) as error:
        raise WriteError(f"{printable(folder / 'lock')}: cannot be locked: {error}") from error
    try:
        yield folder
    finally:
        lock.release()
