"""Graph breaks: the events of all processes, folded into one row for each site.

Sources: artifact dynamo_graph_break_reason, and compilation_metrics for what leaves no artifact: frames given up
before torch 2.11, and errors under fullgraph=True. One break of a helper is reported once for each frame around it
that Dynamo traces, and again for each shape: all these events have the same innermost frame in the user's code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gbfix.evidence.messages import (
    Message,
    read_message,
    reason_of_artifact,
    stack_of_artifact,
)
from gbfix.evidence.model import Break, Place
from gbfix.evidence.places import Places
from gbfix.evidence.records import BreakRecord, CompiledFrame, Note, Records
from gbfix.evidence.stack import (
    StackFrame,
    innermost,
    innermost_in_project,
    plain_function,
    resumed,
    without_torch,
)
from gbfix.evidence.steady import Share, cost, once_per_call, share


@dataclass(frozen=True)
class BreakEvent:
    """One reported break. frame: what was being compiled, which inlines the frames below it in `stack`."""

    message: Message
    records: Records
    frame: CompiledFrame
    stack: tuple[StackFrame, ...]
    place: Place
    project: Place | None
    shown: tuple[Place, ...]
    source: str
    skipped: bool
    fullgraph: bool

    @property
    def site(self) -> tuple[str, str, int]:
        """What events of one row have in common."""
        return (self.message.gb or self.message.kind, self.place.file, self.place.line)


def read_breaks(processes: Iterable[Records], places: Places) -> tuple[Break, ...]:
    """One row for each first id and place, in the order in which they first happened."""
    sites: dict[tuple[str, str, int], list[BreakEvent]] = {}
    for records in processes:
        for frame in records.frames:
            for event in _events(records, frame, places):
                sites.setdefault(event.site, []).append(event)
    return tuple(_row(events) for events in sites.values())


def _events(records: Records, frame: CompiledFrame, places: Places) -> Iterable[BreakEvent]:
    failure = None
    if frame.fail_reason and not frame.over_limit:
        failure = read_message(frame.fail_reason)
        if not failure.gb and frame.fail_type not in ("", "Unsupported"):
            failure = replace(failure, kind=frame.fail_type)
    reported = False
    for record in frame.breaks:
        message = read_message(reason_of_artifact(record.text))
        stack = stack_of_artifact(record.text)
        same = failure is not None and _same(message, stack, failure, frame.error_stack)
        reported = reported or same
        unsaid = frame.guarded is False and not frame.fail_reason  # in a loop, before torch 2.11
        skipped = message.skips_frame or "GB7000" in message.others or unsaid or (same and frame.runs_in_python)
        yield _event(places, message, records, frame, record, stack, skipped=skipped, fullgraph=False)
    if failure is not None and not reported:
        fullgraph = records.is_error(frame)
        record = BreakRecord(frame.fail_reason)
        skipped = frame.runs_in_python and not fullgraph
        yield _event(places, failure, records, frame, record, frame.error_stack, skipped=skipped, fullgraph=fullgraph)


def _same(message: Message, stack: Sequence[StackFrame], failure: Message, error: Sequence[StackFrame]) -> bool:
    """True when a break that was reported is the one for which the frame failed."""
    if (message.gb or message.kind) == (failure.gb or failure.kind):
        return True
    return bool(stack and error) and (stack[-1].file, stack[-1].line) == (error[-1].file, error[-1].line)


def _event(
    places: Places,
    message: Message,
    records: Records,
    frame: CompiledFrame,
    record: BreakRecord,
    stack: tuple[StackFrame, ...],
    *,
    skipped: bool,
    fullgraph: bool,
) -> BreakEvent:
    root, folder = places.root, records.folder
    users = innermost(stack, root)
    if users is None:  # all that is known is which function was compiled
        users = StackFrame(frame.file, frame.line, plain_function(frame.function))
        stack = (users, *stack)
    place = _with_columns(places.place(users, folder), record.span, places, folder)
    projects = innermost_in_project(stack, root)
    project = places.place(projects, folder) if projects is not None else None
    if project is not None and (project.file, project.line) == (place.file, place.line):
        project = None
    source = users.source or places.source(place)
    shown = tuple(places.place(each, folder) for each in _shown(stack, users, root))
    return BreakEvent(message, records, frame, stack, place, project, shown, source, skipped, fullgraph)


def _shown(stack: tuple[StackFrame, ...], users: StackFrame, root: str) -> tuple[StackFrame, ...]:
    """The frames that a reader wants: without PyTorch's around the user's code, with all below it."""
    below = len(stack) - 1 - next((n for n, each in enumerate(reversed(stack)) if each is users), 0)
    return (*without_torch(stack[:below], root), *stack[below:])


def _with_columns(place: Place, span: Note | None, places: Places, folder: str) -> Place:
    if span is None or places.file(str(span.get("file")), folder) != place.file or span.get("line") != place.line:
        return place
    column, end_line, end_column = span.get("column"), span.get("end_line"), span.get("end_column")
    return replace(place, column=column, end_line=end_line, end_column=end_column)


def _row(events: list[BreakEvent]) -> Break:
    first = events[0]
    message = first.message
    by_entry: dict[tuple[int, int | None], list[BreakEvent]] = {}
    for event in events:
        by_entry.setdefault((event.records.index, event.frame.entry), []).append(event)
    shares, fragments = [], set()
    for its_events in by_entry.values():
        its_share, its_fragments = _share(its_events)
        shares.append(its_share)
        fragments |= its_fragments
    calls = {
        (event.records.index, event.frame.entry, event.frame.call) for event in events if event.frame.call is not None
    }
    others = dict.fromkeys(other for event in events for other in (event.message.gb, *event.message.others) if other)
    return Break(
        place=next((event.place for event in events if event.place.column is not None), first.place),
        gb=message.gb,
        kind=message.kind,
        others=tuple(other for other in others if other != message.gb),
        explanation=message.explanation,
        source=first.source,
        project=first.project,
        stack=max((event.shown for event in events), key=len),
        entries=tuple(dict.fromkeys(name for event in events if (name := event.records.entry_name(event.frame)))),
        ranks=tuple(sorted({event.records.rank for event in events if event.records.rank is not None})),
        events=len(events),
        calls=max(len(calls), 1),
        skipped_frame=any(event.skipped for event in events),
        first_shape=any(not event.frame.later_shape for event in events),
        fullgraph=all(event.fullgraph for event in events),
        fragments=len(fragments),
        cost=cost(shares),
    )


def _share(events: Sequence[BreakEvent]) -> tuple[Share, set[tuple[str, int, str]]]:
    """What a site costs an entry of one process, and the code objects of the resume functions that exist because of it.

    Each run of a fragment that ends at the break is a hit, and so is each run of a resume function that starts there.
    Of the functions around the site that were compiled, the innermost one tells: an outer one has fewer hits when it
    inlines the helper in several places. A frame that runs in Python is seen by nothing: when no function around it
    was compiled either, one run per call of the entry is taken.
    """
    records = events[0].records
    groups: dict[tuple[str, str], list[BreakEvent]] = {}
    for event in events:
        groups.setdefault((event.frame.file, plain_function(event.frame.function)), []).append(event)
    hit = None
    after_all: set[tuple[str, int, str]] = set()
    for key in sorted(groups, key=lambda key: max(_depth(event) for event in groups[key]), reverse=True):
        ending = share(records, (event.frame for event in groups[key]))
        after = _resume_functions(records, groups[key])
        after_all |= {frame.code for frame in after}
        resuming = share(records, after)
        if hit is None and max(ending.hits, resuming.hits) > 0:
            hit = replace(max(resuming, ending, key=lambda each: each.hits), seconds=resuming.seconds)
    frames = [event.frame for event in events]
    if hit is None and any(event.skipped for event in events) and not any(frame.guarded for frame in frames):
        hit = once_per_call(records, frames)
    return hit or share(records, frames), after_all


def _depth(event: BreakEvent) -> int:
    """Where the compiled function stands in the stack of the break; -1 when it is not there."""
    function = plain_function(event.frame.function)
    matching = (
        depth for depth, each in enumerate(event.stack) if each.file == event.frame.file and each.function == function
    )
    return max(matching, default=-1)


def _resume_functions(records: Records, events: Iterable[BreakEvent]) -> list[CompiledFrame]:
    """The compilations of the resume functions with which the compiled functions of these events go on."""
    wanted = set()
    for event in events:
        if (depth := _depth(event)) >= 0:
            function = plain_function(event.frame.function)
            wanted.add((event.frame.file, (function, event.stack[depth].line)))
    return [frame for frame in records.frames if (frame.file, resumed(frame.function)) in wanted]
