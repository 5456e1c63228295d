"""Output streams: colours on a terminal only, nothing interpreted, nothing lost to a narrow encoding."""

from __future__ import annotations

import io
import os
from typing import TextIO

from gbfix.engine.dataclass import dataclass

_RESET = "\x1b[0m"
_CODES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m"}
_CODES["cyan"] = "\x1b[36m"


@dataclass(frozen=True)
class Terminal:
    """A text stream and whether it shows colours."""

    stream: TextIO
    is_terminal: bool
    colours: bool

    def line(self, text: str = "") -> None:
        """Write one line as it is; text of a program is never taken for markup."""
        self.stream.write(f"{text}\n")

    def paint(self, text: str, style: str) -> str:
        """The text in a style ("bold", "dim", "red", "green", "yellow", "cyan"), or as it is without colours."""
        return f"{_CODES[style]}{text}{_RESET}" if self.colours else text

    def ask(self, question: str, answers: TextIO) -> str | None:
        """Ask on this stream and read one line of `answers`; None at their end."""
        self.stream.write(question)
        self.stream.flush()
        answer = answers.readline()
        if not answers.isatty():
            self.line(answer.strip())
        return answer.strip() if answer else None


def open_terminal(stream: TextIO) -> Terminal:
    """A stream as a Terminal. NO_COLOR (https://no-color.org) and TERM=dumb switch colours off."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    is_terminal = stream.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Terminal(stream, is_terminal, is_terminal and not plain)
