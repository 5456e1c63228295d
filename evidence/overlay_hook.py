"""Loads the rewritten copies of an overlay in place of their originals, inside the user's program.

The code that runs is the copy's and says so (`co_filename`), so that tracebacks, linecache and Dynamo's reports point
at a file that can be opened. The module stays the original's: `__file__`, `__spec__`, resources next to it. Nothing
is written next to either.

Standard library only. The pieces of it that are replaced here are the few through which source becomes code or text:
`SourceFileLoader` (imports, `-m`, folders, editable installs), `runpy.run_path` (the main file in `spawn`ed workers),
`inspect` (source of classes and modules, which it looks for at `__file__`).
"""

from __future__ import annotations

import functools
import inspect
import os
import runpy
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from pathlib import Path
from types import CodeType
from typing import Any

from gbfix.evidence import overlay_script
from gbfix.evidence.journal import SUFFIX, Journal
from gbfix.evidence.overlay_files import LoadedOverlay

OVERLAY = "GBFIX_OVERLAY"
"""Names the environment variable with the path of the manifest."""
NOTES = "GBFIX_OVERLAY_NOTES"
"""Names the environment variable with the folder for this process's notes when nothing else is recorded."""


def install(journal: Journal | None) -> None:
    """Put the overlay of the environment in force; does nothing where there is none.

    What is loaded is noted in `journal`, or without one in the folder that NOTES names. Raises OSError, ValueError,
    KeyError or TypeError when the manifest cannot be read.
    """
    manifest = os.environ.get(OVERLAY)
    if not manifest:
        return
    overlay = LoadedOverlay(Path(manifest), journal or _own_journal())
    _load_copies(overlay)
    _run_copies(overlay)
    _show_copies(overlay)
    overlay_script.install(overlay)


def _own_journal() -> Journal | None:
    folder = os.environ.get(NOTES)
    try:
        return Journal(Path(folder) / f"{os.getpid()}{SUFFIX}") if folder else None
    except OSError:  # a process that outlived `gbfix run`, which nobody waits for
        return None


def _load_copies(overlay: LoadedOverlay) -> None:
    """Every importer of source files on disk asks its loader for the code, and some tools for the text."""
    get_code, get_source = SourceFileLoader.get_code, SourceFileLoader.get_source

    @functools.wraps(get_code)
    def get_code_of_copy(self: SourceFileLoader, fullname: str) -> CodeType | None:
        copy = overlay.find(self.get_filename(fullname))
        if copy is None:
            return get_code(self, fullname)
        # By way of the loader's own method, which type checkers and the like override to change the code.
        return self.source_to_code(overlay.read(copy, fullname), copy.path)

    @functools.wraps(get_source)
    def get_source_of_copy(self: SourceFileLoader, fullname: str) -> str | None:
        copy = overlay.find_loaded(self.get_filename(fullname))
        return get_source(self, fullname) if copy is None else decode_source(self.get_data(copy.path))

    loader: Any = SourceFileLoader
    loader.get_code, loader.get_source = get_code_of_copy, get_source_of_copy


def _run_copies(overlay: LoadedOverlay) -> None:
    """runpy.run_path reads a file without a loader."""
    module: Any = runpy
    read_code = module._get_code_from_file
    # (run_name, fname) -> (code, fname) up to some release of 3.12; then (fname) -> code, and (fname, module) -> code.
    parameters = read_code.__code__.co_varnames[: read_code.__code__.co_argcount]
    position, gives_path_too = parameters.index("fname"), parameters[0] == "run_name"

    @functools.wraps(read_code)
    def read_code_of_copy(*arguments: Any) -> object:  # noqa: ANN401
        path = arguments[position]
        copy = overlay.find(path)
        if copy is None:
            return read_code(*arguments)
        code = compile(overlay.read(copy, "__main__"), copy.path, "exec", dont_inherit=True)
        return (code, path) if gives_path_too else code

    module._get_code_from_file = read_code_of_copy


def _show_copies(overlay: LoadedOverlay) -> None:
    """`inspect` looks for the source of a class or module at `__file__`.

    It also goes from the file of a frame back to a module, in a table that it fills by means of this same function.
    """
    module: Any = inspect
    getsourcefile = inspect.getsourcefile

    @functools.wraps(getsourcefile)
    def getsourcefile_of_copy(object: Any) -> str | None:  # noqa: ANN401
        file = getsourcefile(object)
        copy = overlay.find_loaded(file) if file and (inspect.isclass(object) or inspect.ismodule(object)) else None
        return copy.path if copy else file

    module.getsourcefile = getsourcefile_of_copy
