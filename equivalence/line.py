"""The line between a check and the process of a version: whole messages over a socket that user code may spoil.

Whatever the other end does, reading ends by a deadline, and what is no message is told apart from one.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import time
from collections.abc import Callable

_LENGTH = struct.Struct("!Q")
_HIGH = 400
"""Above the descriptors that programs use or close by number, and below every usual limit."""
_STEP = 0.05
"""Seconds between two looks at whether the other process still lives."""


class LineError(Exception):
    """The line cannot be used any more; the text says why."""


class Line:
    """One end. mark: a text that both ends know and user code does not."""

    def __init__(self, end: socket.socket, mark: bytes) -> None:
        self._end = end
        self._mark = mark
        self._identity = _identity(end.fileno())

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def move_up(self) -> None:
        """Give the descriptor a high number, out of the way of a program that closes all it knows."""
        try:
            number = fcntl.fcntl(self._end.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH)
        except OSError:
            return
        self._end.close()
        self._end = socket.socket(fileno=number)

    def send(self, message: bytes) -> None:
        """Send a whole message. Raises LineError when the other end is gone, or the descriptor is another file now."""
        try:
            if _identity(self._end.fileno()) != self._identity:
                raise LineError("closed its line to gbfix")
            self._end.setblocking(True)
            self._end.sendall(self._mark + _LENGTH.pack(len(message)) + message)
        except OSError as error:
            raise LineError("closed its line to gbfix") from error

    def receive(self) -> bytes:
        """Wait for a message. Raises LineError when the other end is gone."""
        return self.receive_until(None, lambda: True)

    def receive_until(self, deadline: float | None, is_alive: Callable[[], bool]) -> bytes:
        """A message. Raises TimeoutError at the deadline (of time.monotonic), else LineError.

        is_alive: asked from time to time; when the other process is gone, the end of the line is not waited for, since
        a child of it may hold the line open.
        """
        header = self._read(len(self._mark) + _LENGTH.size, deadline, is_alive)
        if not header.startswith(self._mark):
            raise LineError("wrote into its line to gbfix")
        return self._read(_LENGTH.unpack(header[len(self._mark) :])[0], deadline, is_alive)

    def _read(self, length: int, deadline: float | None, is_alive: Callable[[], bool]) -> bytes:
        parts: list[bytes] = []
        while length:
            self._wait(deadline, is_alive)
            try:
                part = self._end.recv(min(length, 1 << 20))
            except OSError as error:
                raise LineError("closed its line to gbfix") from error
            if not part:
                raise LineError("closed its line to gbfix")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _wait(self, deadline: float | None, is_alive: Callable[[], bool]) -> None:
        poll = select.poll()
        try:
            poll.register(self._end, select.POLLIN)
        except (OSError, ValueError) as error:
            raise LineError("closed its line to gbfix") from error
        if deadline is None:
            poll.poll()
            return
        while True:
            lived = is_alive()
            left = min(_STEP, deadline - time.monotonic())
            if poll.poll(max(0.0, left) * 1000 if lived else 0):
                return
            if not lived:
                raise LineError("ended")
            if time.monotonic() >= deadline:
                raise TimeoutError


def line_pair() -> tuple[socket.socket, socket.socket, bytes]:
    """Both ends of a new line, and its mark."""
    one, other = socket.socketpair()
    return one, other, os.urandom(16)


def _identity(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_dev, facts.st_ino
