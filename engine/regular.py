"""Reading files of which it is not sure that they are files: a pipe that nobody writes to would be waited for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


class NotRegularError(OSError):
    """What stands there is a pipe, a socket, a device or a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


def read_regular(path: Path) -> bytes:
    """The contents of a regular file, or of the one that a symbolic link leads to.

    Raises NotRegularError for anything else, at once, also when it takes the file's place at the last moment. Raises
    OSError.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # to open a pipe or a device may already do something
        raise NotRegularError(path)
    with open(path, "rb", opener=_open_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise NotRegularError(path)
        return stream.read()


def _open_without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
