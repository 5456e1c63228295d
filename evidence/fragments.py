"""Fragments: what Dynamo compiled, one row for each compilation of a code object."""

from __future__ import annotations

from collections.abc import Iterable

from gbfix.evidence.messages import read_message, reason_of_artifact
from gbfix.evidence.model import Fragment, Place
from gbfix.evidence.places import Places
from gbfix.evidence.records import CompiledFrame, Records
from gbfix.evidence.stack import plain_function, resumed
from gbfix.evidence.steady import cost, share

_RECOMPILE_LIMIT = "recompile limit reached"
NOTHING_TO_COMPILE = "no tensor operation was traced"
"""Why a fragment runs in Python that loses nothing by it."""


def read_fragments(processes: Iterable[Records], places: Places) -> tuple[Fragment, ...]:
    """All compilations of all processes, in order."""
    return tuple(_fragment(records, frame, places) for records in processes for frame in records.frames)


def left_to_python(fragments: Iterable[Fragment]) -> frozenset[Place]:
    """The functions that Dynamo gave up on, without those that hold nothing to compile."""
    return frozenset(one.place for one in fragments if one.skipped not in ("", NOTHING_TO_COMPILE))


def _fragment(records: Records, frame: CompiledFrame, places: Places) -> Fragment:
    continued = resumed(frame.function)
    return Fragment(
        id=frame.id,
        place=Place(places.file(frame.file, records.folder), frame.line, plain_function(frame.function)),
        process=int(records.process.get("pid") or 0),
        entry=records.entry_name(frame),
        resumes=continued[1] if continued else None,
        operations=frame.operations,
        graph=frame.graph and not frame.fail_reason,
        skipped=_skipped(records, frame),
        cost=cost([share(records, [frame])]),
    )


def _skipped(records: Records, frame: CompiledFrame) -> str:
    if frame.over_limit:
        return _RECOMPILE_LIMIT
    if frame.fail_reason:
        gives_up = frame.runs_in_python and (frame.breaks or not records.is_error(frame))
        return read_message(frame.fail_reason).kind if gives_up else ""
    if frame.guarded is False and frame.breaks:  # a break in a loop, before torch 2.11
        return read_message(reason_of_artifact(frame.breaks[-1].text)).kind
    return NOTHING_TO_COMPILE if frame.finished and not frame.traced else ""
