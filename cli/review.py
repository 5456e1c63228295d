"""Asking about each fix: `gbfix apply --interactive`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from gbfix.cli.outcome import Accept, Entry
from gbfix.cli.terminal import Terminal
from gbfix.cli.text_report import write_entry
from gbfix.engine.model import ConfigurationError, Safety

_QUESTION = "Apply this fix? [y]es, [n]o, [a]ll the rest, [q]uit (keeps those accepted): "


def check_answers_can_come(paths: Sequence[str] | None, *, interactive: bool) -> None:
    """Raise ConfigurationError when standard input is wanted for the program and for the answers too."""
    if interactive and "-" in (paths or ()):
        raise ConfigurationError('--interactive reads answers from standard input, so "-" cannot be given with it')


def kinds_asked_about(*, interactive: bool, unsafe: bool) -> frozenset[Safety]:
    """The kinds of fixes that are put to the user one by one."""
    kinds = {Safety.SAFE, Safety.UNSAFE} if unsafe else {Safety.SAFE}
    return frozenset(kinds if interactive else ())


def asking(out: Terminal, answers: TextIO) -> Accept:
    """A function that shows each fix on `out` and reads from `answers` whether to make it."""
    return _Review(out, answers).accept


class _Review:
    """The conversation about the fixes of one run."""

    def __init__(self, out: Terminal, answers: TextIO) -> None:
        self._out = out
        self._answers = answers
        self._decided: bool | None = None

    def accept(self, name: str, entry: Entry) -> bool:
        """Show a fix and ask; True to apply it."""
        if self._decided is not None:
            return self._decided
        write_entry(self._out, name, entry)
        return self._ask()

    def _ask(self) -> bool:
        while True:
            answer = self._out.ask(_QUESTION, self._answers)
            match None if answer is None else answer.lower():
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
                case "a" | "all":
                    self._decided = True
                    return True
                case "q" | "quit" | None:
                    self._decided = False
                    return False
                case _:
                    self._out.line("Please answer y, n, a or q.")
