"""Python imports this module at start-up when its folder is on PYTHONPATH: the way into a user's process.

It takes itself out of the program's sight, starts the recorder or the overlay, and gives way to the sitecustomize that
the environment would have had. It runs in every Python process below gbfix, whatever its version: hence the plain
syntax, which Python 3.6 reads. A process started with -I, -E or -S never comes here.
"""

import os
import sys
from types import ModuleType

BOOTSTRAP = os.path.dirname(os.path.abspath(__file__))
EVIDENCE = os.path.dirname(BOOTSTRAP)


class OwnModules:
    """The modules gbfix.evidence.* as they lie beside this file, kept out of sys.modules.

    The program's interpreter may have no gbfix, or one of another version. The notes must be those that the gbfix
    which started the program can read, so its own files are used always; and since the program must be able to import
    what it could before, no more and no less, they stand in sys.modules only while one of them is being imported.
    Therefore recording modules import each other at their top, never later.
    """

    def __init__(self) -> None:
        package = ModuleType("gbfix")
        package.__path__ = []
        evidence = ModuleType("gbfix.evidence")
        evidence.__path__ = [EVIDENCE]
        self._modules = {"gbfix": package, "gbfix.evidence": evidence}

    def load(self, name: str) -> ModuleType:
        """Import a module of gbfix.evidence. Raises what it raises."""
        theirs = _take_out()
        sys.modules.update(self._modules)
        try:
            __import__(name)
            return sys.modules[name]
        finally:
            self._modules = _take_out()
            sys.modules.update(theirs)


def _take_out() -> "dict[str, ModuleType]":
    names = [name for name in list(sys.modules) if name == "gbfix" or name.startswith("gbfix.")]
    return {name: sys.modules.pop(name) for name in names}


def _hide() -> None:
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != BOOTSTRAP]
    sys.path_importer_cache.pop(BOOTSTRAP, None)
    sys.modules.pop("sitecustomize", None)


def _start() -> None:
    journal_folder = os.environ.get("GBFIX_JOURNAL")
    overlay = os.environ.get("GBFIX_OVERLAY")
    if journal_folder and not os.path.isdir(journal_folder):  # a daemon outlived the run: nobody reads notes any more
        journal_folder = None
    if sys.version_info < (3, 10) or not (journal_folder or overlay):
        return
    load = OwnModules().load
    recorder = load("gbfix.evidence.recorder") if journal_folder else None
    journal = recorder.open_journal(journal_folder) if recorder else None
    if overlay:  # first: it may replace this process by another one
        load("gbfix.evidence.overlay_hook").install(journal)
    if recorder:
        recorder.start(journal, load)


def _start_quietly() -> None:
    try:
        _start()
    except Exception as error:
        if sys.stderr is not None:
            sys.stderr.write(f"gbfix: this process is not observed: {type(error).__name__}: {error}\n")


_hide()
_start_quietly()
# Python's site module knows what to do when this finds nothing or fails: what it would have done without gbfix.
__import__("sitecustomize")
