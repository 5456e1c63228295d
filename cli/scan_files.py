"""`gbfix scan` over files on disk: every file is looked at once, and only those that matter are kept in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gbfix.analysis.files import Files
from gbfix.analysis.project import Project
from gbfix.analysis.spotted import may_compile
from gbfix.cli.failure import internal_error
from gbfix.cli.names import display_names
from gbfix.cli.outcome import FileOutcome, Outcome
from gbfix.cli.run import CUT_OFF, Request, file_outcome, load_for, may_tell, naming
from gbfix.cli.survey import survey
from gbfix.engine.deep import with_deep_stack
from gbfix.engine.files import Discovered, read_source
from gbfix.engine.garbage import without_garbage_collection
from gbfix.engine.model import GbfixError

WORTH_KEEPING = 200
"""Files; fewer are scanned in no time."""
_KEPT_BYTES = 64_000_000  # of text; for more of it, files are read again each time that they are searched


def scan_or_recall(found: Discovered, request: Request, jobs: int) -> Outcome:
    """The same as `scan_files`; the result for the same contents and settings is remembered where it takes long."""
    if len(found.files) < WORTH_KEEPING:
        return scan_files(found, request, jobs)
    from gbfix.cli.scan_cache import keep_outcome, kept_outcome, key_of  # slow to load, and few files need it

    key = key_of(found.files, found.problems, request)
    kept = kept_outcome(key) if key is not None else None
    if kept is not None:
        return kept
    outcome = scan_files(found, request, jobs)
    if key is not None and key == key_of(found.files, found.problems, request):  # nothing changed meanwhile
        keep_outcome(key, outcome)
    return outcome


def scan_files(found: Discovered, request: Request, jobs: int) -> Outcome:
    """Look at all files together; a problem with one of them is recorded and the others go on.

    Raises GbfixError when one of the processes that share the work ends before it is done.
    """
    names = display_names(found.files)
    paths = dict(zip(names, found.files, strict=True))
    early: list[Outcome] = []

    def meanwhile() -> None:
        # Most trees have no file with a problem; where one has, what was found without knowing it does not count.
        with suppress(Exception):
            early.append(_scan(paths, names, request))

    files = [(str(path), name) for name, path in paths.items()]
    reasons = survey(files, jobs, request.advance, meanwhile)
    problems = [*map(str, found.problems), *filter(None, reasons)]
    sound = [name for name, reason in zip(names, reasons, strict=True) if not reason]
    outcome = early[0] if early and len(sound) == len(names) else _scan(paths, sound, request)
    return replace(outcome, problems=(*problems, *outcome.problems))


def _scan(paths: Mapping[str, Path], names: Sequence[str], request: Request) -> Outcome:
    with without_garbage_collection():
        return with_deep_stack(lambda: _outcome(_Texts(paths), paths, names, request))


def _outcome(texts: _Texts, paths: Mapping[str, Path], names: Sequence[str], request: Request) -> Outcome:
    compiling = frozenset(name for name in names if may_compile(texts.text(name)))
    files = Files(names, texts.read, compiling=compiling)
    problems: list[str] = []
    project = load_for(files, request)
    together: Project | None = project
    try:
        _ = project.compiled
    except Exception as error:
        problems.append(internal_error("the search across files (each is now looked at alone)", error))
        together = None
    outcomes: list[FileOutcome] = []
    compiled_functions = failed = 0
    for name in names:
        if together is not None and not may_tell(together, name, texts.text(name)):
            continue
        try:
            current = together or load_for([files[name]], request)
            compiled_functions += len(current.compiled[name])
            outcomes.append(file_outcome(current, read_source(paths[name]), files[name], request))
        except GbfixError as error:
            failed += 1
            problems.append(naming(name, error))
        except Exception as error:
            failed += 1
            problems.append(internal_error(name, error))
    told = tuple(outcome for outcome in outcomes if outcome.remaining or outcome.unused_suppressions)
    plain = len(names) - failed - len(told)
    notes = (CUT_OFF,) if together is not None and together.search.is_cut_off else ()
    return Outcome(told, tuple(problems), compiled_functions, plain, notes)


class _Texts:
    """The texts of files, in UTF-8, kept in memory as long as they are not too many."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths
        self._kept: dict[str, bytes] = {}
        self._room = _KEPT_BYTES

    def text(self, name: str) -> str:
        """The text of a file. Raises SourceError when it cannot be read any more."""
        return self.read(name).decode("utf-8", "surrogatepass")

    def read(self, name: str) -> bytes:
        """The same in UTF-8."""
        kept = self._kept.get(name)
        if kept is None:
            kept = read_source(self._paths[name]).text.encode("utf-8", "surrogatepass")
            if len(kept) <= self._room:
                self._room -= len(kept)
                self._kept[name] = kept
        return kept
