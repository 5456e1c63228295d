"""Starting a program as it would run without gbfix, with the ways in that observing it needs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gbfix.engine.model import GbfixError
from gbfix.evidence.saved_modules import FOLDER

BOOTSTRAP = Path(__file__).resolve().parent / "bootstrap"

_SIGNAL_STATUS = 128
_SECONDS_FOR_THE_GROUP = 1.0
_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_FROM_THE_TERMINAL = ("SIGINT", "SIGQUIT")


@dataclass(frozen=True)
class ExitStatus:
    """How a program ended. signal: the name of the signal that killed it ("SIGKILL"), else empty."""

    code: int
    signal: str = ""


def resolve_command(words: Sequence[str]) -> tuple[str, ...]:
    """The command that the words after `--` mean, ready to be started.

    A Python script (or a folder or archive with a `__main__`) and Python's own options (`-m module`, `-c code`, `-u`)
    are run by the Python that runs gbfix; anything else is a program on the PATH. Raises GbfixError when the script or
    program is missing, and for a notebook.
    """
    if not words:
        raise GbfixError("no command given; write for example: gbfix trace -- train.py --epochs 1")
    first = words[0]
    if first.endswith(".ipynb"):
        raise GbfixError(f"{first}: a notebook is no program; export it first: jupyter nbconvert --to script {first}")
    if first.startswith("-"):
        return (sys.executable, *words)
    if first.endswith((".py", ".pyw", ".pyz")):
        if not Path(first).exists():
            raise GbfixError(f"{first}: no such script in {Path.cwd()}")
        return (sys.executable, *words)
    if Path(first, "__main__.py").is_file():
        return (sys.executable, *words)
    if shutil.which(first) is None:
        raise GbfixError(_not_a_program(first))
    return tuple(words)


def _not_a_program(word: str) -> str:
    if re.match(r"[A-Za-z_]\w*=", word):
        return f"{word}: variables of the environment stand before gbfix: {word} gbfix trace -- CMD"
    if Path(word).is_dir():
        return f"{word}: is a folder without a __main__.py; name the script to run"
    if Path(word).is_file():
        return f"{word}: is not an executable program; to run it with Python write: python {word}"
    if os.sep in word:
        return f"{word}: no such program"
    return f"{word}: no such program on the PATH; if it is a Python module write: -m {word}"


def observed_environment(
    base: Mapping[str, str],
    *,
    journals: Path | None = None,
    overlay: Path | None = None,
    values: bool = True,
    modules: Path | None = None,
) -> dict[str, str]:
    """The environment for a program: as `base`, but Python processes start with the bootstrap.

    journals: the folder for the notes of each process, None when nothing is to be recorded. overlay: the manifest of
    the overlay in force. values: observe the values of names, too. modules: the folder for compiled modules.
    """
    environment = {name: text for name, text in base.items() if not name.startswith("GBFIX_")}
    path = [str(BOOTSTRAP)]
    if base.get("PYTHONPATH"):
        path.append(base["PYTHONPATH"])
    environment["PYTHONPATH"] = os.pathsep.join(path)
    if journals is not None:
        environment["GBFIX_JOURNAL"] = str(journals.resolve())
    if overlay is not None:
        environment["GBFIX_OVERLAY"] = str(overlay.resolve())
    if modules is not None:
        environment[FOLDER] = str(modules.resolve())
    if not values:
        environment["GBFIX_VALUES"] = "0"
    return environment


def run_program(command: Sequence[str], environment: Mapping[str, str]) -> ExitStatus:
    """Run a command to its end, in this process group and with this process's standard streams.

    Ctrl-C in a terminal reaches the program directly; gbfix only waits for it to end. The other signals that ask a
    program to do something are passed on. Call it from the main thread. Raises GbfixError when the command cannot be
    started.
    """
    with _Signals().caught() as signals:
        try:
            # The descriptors that the shell handed to gbfix are for the program; Python's own are not inheritable.
            child = subprocess.Popen(command, env=dict(environment), close_fds=False)
        except OSError as error:
            raise GbfixError(f"{command[0]}: cannot be started: {error.strerror or error}") from error
        signals.now_for(child)
        code = child.wait()
    if code >= 0:
        return ExitStatus(code)
    return ExitStatus(_SIGNAL_STATUS - code, signal_name(-code))


def signal_name(number: int) -> str:
    """The name of a signal ("SIGKILL"), its number for one that has none."""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


class _Signals:
    """What gbfix does with signals while a program runs.

    Handlers, not SIG_IGN: the program would inherit that. Signals ignored already (nohup) stay so, for both.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def now_for(self, child: subprocess.Popen[bytes]) -> None:
        """The program runs: it gets those that came before as well."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    @contextmanager
    def caught(self) -> Iterator[_Signals]:
        before = {}
        for names, handler in ((_PASSED_ON, self._pass_on), (_FROM_THE_TERMINAL, self._wait_for_the_group)):
            for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, handler)
        try:
            yield self
        finally:
            for number, handler_before in before.items():
                signal.signal(number, handler_before)

    def _pass_on(self, number: int, _frame: object) -> None:
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)

    def _wait_for_the_group(self, number: int, frame: object) -> None:
        """The terminal sends it to the program as well; a supervisor may have sent it to gbfix alone.

        Which of the two happened nobody tells. Away from a terminal a program that still runs after a while gets it:
        for the second time where it was sent to the group and takes long to end, but never not at all.
        """
        if not _in_the_foreground():
            later = threading.Timer(_SECONDS_FOR_THE_GROUP, self._pass_on, (number, frame))
            later.daemon = True
            later.start()


def _in_the_foreground() -> bool:
    """True when the keyboard's signals go to this process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
