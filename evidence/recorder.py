"""The recorder of one process: opens its journal and, once the program imported torch, sets the observers up."""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from gbfix.evidence.ending import at_end
from gbfix.evidence.imports import after_import
from gbfix.evidence.journal import SUFFIX, Journal

OLDEST_TORCH = (2, 6)

OBSERVERS = ("trace_records", "spans", "entries", "hits", "observe")
"""Modules of gbfix.evidence with a function `install(journal)`, in the order in which they are set up."""

Load = Callable[[str], ModuleType]

_observers: dict[str, ModuleType] = {}


def open_journal(folder: str) -> Journal:
    """The notes of this process in the folder. Raises OSError."""
    return Journal(Path(folder, f"{os.getpid()}{SUFFIX}"))


def start(journal: Journal, load: Load = importlib.import_module) -> None:
    """Begin to take notes: the process now, the rest once the program has imported torch.

    load: imports a module of gbfix.evidence by name (see bootstrap/sitecustomize).
    """
    python = sys.version.split()[0]
    journal.write_header(
        "process", pid=os.getpid(), rank=_rank(), argv=sys.orig_argv, cwd=working_folder(), python=python
    )
    noticed: list[ModuleType] = []
    after_import("torch", noticed.append)
    after_import("torch", lambda torch: _observe(torch, journal, load))
    at_end(lambda: _end(journal, unnoticed=sys.modules.get("torch") is not None and not noticed))


def current_call() -> tuple[int | None, int | None]:
    """(entry, call) of the outermost compiled call that runs in this thread, as `entries` knows it."""
    entries: Any = _observers.get("entries")
    return (None, None) if entries is None else entries.current_call()


def _end(journal: Journal, *, unnoticed: bool) -> None:
    if journal.inherited:  # a forked child that took no notes has none to complete
        return
    if unnoticed:  # a finder of the program came before ours
        journal.write(
            "problem", message="PyTorch was imported in a way that gbfix did not notice: nothing was recorded"
        )
    journal.write("end")


def _rank() -> int | None:
    text = os.environ.get("RANK", "")  # set by torchrun and by most other launchers
    return int(text) if text.isdecimal() else None


def working_folder() -> str:
    """Where the project most likely is; empty when the folder was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _observe(torch: ModuleType, journal: Journal, load: Load) -> None:
    version = str(torch.__version__)
    journal.write_header("torch", version=version, settings=settings())
    if _release(version) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        journal.write("problem", message=f"PyTorch {version} is too old: gbfix trace needs {oldest} or newer")
        return
    # Dynamo must not take frames of the recording half for frames of the program.
    after_import("torch._dynamo.trace_rules", _skip_own_files)
    for name in OBSERVERS:
        if name != "observe" or os.environ.get("GBFIX_VALUES") != "0":
            _set_up(name, journal, load)


def _set_up(name: str, journal: Journal, load: Load) -> None:
    try:
        module = load(f"gbfix.evidence.{name}")
        module.install(journal)
        _observers[name] = module
    except Exception as error:
        message = f"gbfix could not set up its observer {name!r}: {type(error).__name__}: {error}"
        journal.write("problem", message=message)


def _release(version: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else OLDEST_TORCH


def _skip_own_files(trace_rules: ModuleType) -> None:
    trace_rules.SKIP_DIRS.append(os.path.dirname(os.path.abspath(__file__)) + os.sep)
    trace_rules._recompile_re()


def settings() -> dict[str, str]:
    """The settings of this process that change what Dynamo does: its configuration, and TORCH* in the environment.

    Source: `torch._dynamo.config.codegen_config()` lists the values that differ from their defaults (2.0 and later).
    """
    found = dict(_environment())
    config = sys.modules.get("torch._dynamo.config")
    if config is not None:
        for line in config.codegen_config().splitlines():
            name, equals, value = line.partition(" = ")
            if equals:
                found[name.removeprefix("torch._dynamo.config.")] = value
    return found


@functools.cache
def _environment() -> dict[str, str]:
    """As it was when torch had been imported: torch itself sets some variables later."""
    return {name: value for name, value in os.environ.items() if name.startswith("TORCH")}
