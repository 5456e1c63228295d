"""What remains to be done when an observed process ends in order."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from types import ModuleType

from gbfix.evidence.imports import after_import


class _Ending:
    """The actions of this process; a forked child inherits them and runs them for itself."""

    def __init__(self) -> None:
        self.actions: list[Callable[[], None]] = []
        self._done_in: int | None = None

    def run(self) -> None:
        """Run the actions, the last one first, once per process."""
        if self._done_in == os.getpid():
            return
        self._done_in = os.getpid()
        for action in reversed(self.actions):
            try:
                action()
            except Exception:  # the program is over and was right; a missing note shows in its journal
                continue

    def listen(self) -> None:
        atexit.register(self.run)
        after_import("multiprocessing.util", self._after_multiprocessing)

    def _after_multiprocessing(self, util: ModuleType) -> None:
        # Children that multiprocessing forks leave by os._exit (up to Python 3.12 without atexit) and forget the
        # finalizers of their parent: each registers its own.
        util.register_after_fork(self, lambda ending: util.Finalize(None, ending.run, exitpriority=-1000))


_ENDING = _Ending()


def at_end(action: Callable[[], None]) -> None:
    """Run `action` when this process ends in order, before those registered earlier.

    Unlike atexit also in children that multiprocessing forked. An exception of the action goes no further. A process
    that is killed, or leaves by os._exit, runs none.
    """
    if not _ENDING.actions:
        _ENDING.listen()
    _ENDING.actions.append(action)
