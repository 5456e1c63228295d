"""Running the copy of the script on the command line: `python script.py`, which no importer loads.

CPython compiles that file itself. But first it asks `sys.path_hooks` whether the name is a folder or archive to run
(`pymain_run_python` in Modules/main.c, the same from 3.10 to 3.14): a hook that says yes gets to supply the code of
`__main__`, in this very process, with every interpreter flag, signal and exit status as it was. What differs from
a plain start (`sys.path[0]`, `__spec__`, `__loader__`) is put right before the first line of the program.

Runs inside the user's program: standard library only.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, TracebackType
from typing import Any

from gbfix.evidence.overlay_files import Copy, LoadedOverlay

_MAIN = "__main__"


def install(overlay: LoadedOverlay) -> None:
    """See to it that the copy runs when the script that Python was started with has one."""
    script = sys.argv[0] if getattr(sys, "argv", None) else ""
    copy = overlay.find(script) if script not in ("", "-", "-c", "-m") else None
    if copy is not None:
        sys.path_hooks.insert(0, _Hook(overlay, copy))


class _Hook:
    """Claims the script when the interpreter itself asks, which it does first of all and only once."""

    def __init__(self, overlay: LoadedOverlay, copy: Copy) -> None:
        self._overlay = overlay
        self._copy = copy

    def __call__(self, path: str) -> _ScriptFinder:
        """The finder for the script, or ImportError, which means: not mine."""
        if _called_by_python_code() or self._overlay.find(path) != self._copy:
            raise ImportError("no folder or archive of gbfix", path=path)
        sys.path_hooks.remove(self)
        return _ScriptFinder(self._overlay, self._copy, path)


class _ScriptFinder:
    """Finds nothing but `__main__`."""

    def __init__(self, overlay: LoadedOverlay, copy: Copy, script: str) -> None:
        self._loader = _ScriptLoader(overlay, copy, script)
        self._script = script

    def find_spec(self, name: str, _target: object = None) -> ModuleSpec | None:
        """Asked by runpy."""
        loader: Any = self._loader  # runpy wants get_code alone
        return ModuleSpec(name, loader, origin=self._script) if name == _MAIN else None


class _ScriptLoader:
    """Gives runpy a line of code that calls back here, once `__main__` is set up."""

    def __init__(self, overlay: LoadedOverlay, copy: Copy, script: str) -> None:
        self._overlay = overlay
        self._copy = copy
        self._script = script

    def get_code(self, _name: str) -> CodeType:
        """Asked by runpy."""
        return compile("__loader__.run()", "<gbfix overlay>", "exec")

    def run(self) -> None:
        """Run the copy as `__main__`, looking from inside as the script would."""
        loader = SourceFileLoader(_MAIN, self._script)
        namespace = sys.modules[_MAIN].__dict__
        namespace.update(__file__=self._script, __cached__=None, __package__=None, __spec__=None, __loader__=loader)
        self._restore_path()
        code = loader.source_to_code(self._overlay.read(self._copy, _MAIN), self._copy.path)
        try:
            exec(code, namespace)
        except BaseException:
            _hide_frames_above(code)
            raise

    def _restore_path(self) -> None:
        """The script's folder comes first, or nothing under -P, where the interpreter put the script itself."""
        importers: Any = sys.path_importer_cache
        importers[self._script] = None  # no folder or archive, as CPython would have found
        if sys.path[:1] == [self._script]:
            safe_path = getattr(sys.flags, "safe_path", False)
            sys.path[:1] = [] if safe_path else [_folder(self._copy.original)]


def _folder(path: str) -> str:
    import os

    return os.path.dirname(path)


def _called_by_python_code() -> bool:
    try:
        sys._getframe(2)
    except ValueError:
        return False
    return True


def _hide_frames_above(code: CodeType) -> None:
    """Let an uncaught exception be printed from the program's first frame on, as without gbfix."""
    print_exception = sys.excepthook  # the program's, if it set one

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        inner = trace
        while inner is not None and inner.tb_frame.f_code is not code:
            inner = inner.tb_next
        print_exception(kind, error.with_traceback(inner or trace), inner or trace)

    sys.excepthook = hook
