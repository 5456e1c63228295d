"""`gbfix scan` over files on disk: every file is looked at once, and only those that matter are kept in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gbfix.analysis.files import Files
from gbfix.analysis.project import Project
from gbfix.cli.failure import internal_error
from gbfix.cli.names import display_names
from gbfix.cli.outcome import FileOutcome, Outcome
from gbfix.cli.run import CUT_OFF, Request, file_outcome, load_for, naming
from gbfix.cli.survey import Surveyed, survey
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
    surveyed = survey([(str(path), name) for path, name in zip(found.files, names, strict=True)], jobs, request.advance)
    problems = [*map(str, found.problems), *(one.problem for one in surveyed if one.problem)]
    looked_at = {name: one for name, one in zip(names, surveyed, strict=True) if not one.problem}
    paths = dict(zip(names, found.files, strict=True))
    with without_garbage_collection():
        return with_deep_stack(lambda: _scan(paths, looked_at, problems, request))


def _scan(
    paths: Mapping[str, Path], looked_at: Mapping[str, Surveyed], problems: list[str], request: Request
) -> Outcome:
    files = Files(looked_at, _Texts(paths).read, compiling=frozenset(n for n, one in looked_at.items() if one.compiles))
    project = load_for(files, request)
    together: Project | None = project
    try:
        _ = project.compiled
    except Exception as error:
        problems.append(internal_error("the search across files (each is now looked at alone)", error))
        together = None
    outcomes: list[FileOutcome] = []
    compiled_functions = failed = 0
    for name, one in looked_at.items():
        if not (one.compiles or one.is_marked or together is None or together.compiled[name]):
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
    plain = len(looked_at) - failed - len(told)
    notes = (CUT_OFF,) if together is not None and together.search.is_cut_off else ()
    return Outcome(told, tuple(problems), compiled_functions, plain, notes)


class _Texts:
    """The texts of files, in UTF-8, kept in memory as long as they are not too many."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths
        self._kept: dict[str, bytes] = {}
        self._room = _KEPT_BYTES

    def read(self, name: str) -> bytes:
        """The text of a file. Raises SourceError when it cannot be read any more."""
        kept = self._kept.get(name)
        if kept is None:
            kept = read_source(self._paths[name]).text.encode("utf-8", "surrogatepass")
            if len(kept) <= self._room:
                self._room -= len(kept)
                self._kept[name] = kept
        return kept
