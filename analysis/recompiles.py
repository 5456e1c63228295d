"""The calls of a recorded run that no compiled graph of a function fitted: data for rules, filled in from evidence.

Facts about one run, as observations are: an obligation that needs them is `observed`, never `proved`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from gbfix.analysis.observations import ValueSpec
from gbfix.analysis.source import Function, SourceFile
from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from difflib import Match


@dataclass(frozen=True)
class Line:
    """A line of a file. file: as `Project.files` names it, or as evidence does for a file that is not in it."""

    file: str
    line: int


@dataclass(frozen=True)
class EntrySeen:
    """A function given to torch.compile, and the calls of it that the run recorded.

    defined: its first line, decorators included. compiled_at: the line that compiles it. dynamic: as it was given.
    arguments: by name, each combination of facts that was recorded, in order; a run records the first calls and those
    that compiled something. calls: all calls made, recorded or not.
    """

    function: str
    defined: Line | None = None
    compiled_at: Line | None = None
    fullgraph: bool = False
    dynamic: bool | None = None
    calls: int = 0
    arguments: tuple[Mapping[str, ValueSpec], ...] = ()
    compiles: int = 0


@dataclass(frozen=True)
class RecompileSeen:
    """Calls for which a code object was compiled again, since one of its guards failed.

    at: the first line of the code object, decorators included. function: its bare name. kind, guard, source_name and
    values: what the guard is about, its text, the value that it looks at ("x", "self.step"), and the values seen, as
    `Recompile` of the evidence explains them. dimension: of a size or stride. owner: the line that reads the value.
    count: the recompilations. compiles: how often one process compiled the code object, for whatever reason.
    limit_hit: Dynamo gave up on the code object after too many.
    """

    at: Line
    function: str
    kind: str
    guard: str = ""
    source_name: str = ""
    dimension: int | None = None
    values: tuple[str, ...] = ()
    owner: Line | None = None
    count: int = 1
    compiles: int = 2
    limit_hit: bool = False
    entries: tuple[EntrySeen, ...] = ()


def function_at(source: SourceFile, line: int, name: str) -> Function | None:
    """The function whose code object begins at a line and has this bare name; None when there are several or none."""
    found = [one for one in source.functions if one.name == name and source.span(one.node).line == line]
    return found[0] if len(found) == 1 else None


def moved_recompiles(
    recompiles: Iterable[RecompileSeen], functions: Mapping[Function, Function], before: SourceFile, after: SourceFile
) -> tuple[RecompileSeen, ...]:
    """The recompiles of one file at their lines after a file was edited.

    functions: those of the edited text, by those that they were. What is said of a function that is gone is dropped,
    and so are lines that were changed.
    """

    @cache
    def kept() -> list[Match]:
        from difflib import SequenceMatcher  # slow to load, and needed only after an edit

        return SequenceMatcher(None, before.lines, after.lines, autojunk=False).get_matching_blocks()

    def moved(place: Line | None) -> Line | None:
        if place is None or place.file != before.path:
            return place
        line = _moved_line(place.line, kept())
        return None if line is None else Line(place.file, line)

    def moved_entry(entry: EntrySeen) -> EntrySeen:
        return replace(entry, defined=moved_start(entry.defined, entry.function), compiled_at=moved(entry.compiled_at))

    def moved_start(place: Line | None, name: str) -> Line | None:
        if place is None or place.file != before.path:
            return place
        return starts.get((place.line, name.rpartition(".")[2]))

    starts = {
        (before.span(old.node).line, old.name): Line(after.path, after.span(new.node).line)
        for old, new in functions.items()
    }
    found = ((one, moved_start(one.at, one.function)) for one in recompiles)
    return tuple(
        replace(one, at=at, owner=moved(one.owner), entries=tuple(map(moved_entry, one.entries)))
        for one, at in found
        if at is not None
    )


def _moved_line(line: int, kept: Sequence[Match]) -> int | None:
    """Where a line of the old text stands in the new one; None for one that was changed."""
    blocks = (block for block in kept if block.a < line <= block.a + block.size)
    return next((line - block.a + block.b for block in blocks), None)
