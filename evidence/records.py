"""The notes of one process put together: which frames Dynamo compiled, and what it said about each.

Nothing is judged here. Compile ids start anew when the program calls `torch._dynamo.reset()`, so that notes are read
in order and an id means the frame that had it last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gbfix.evidence.stack import StackFrame, read_stack

_LIMIT = re.compile(r"recompile[_ ]limit|cache_size_limit|cache limit", re.I)
_LIMIT_ERRORS = ("LimitHit", "LimitExceeded")

Note = Mapping[str, Any]
"""One line of a journal: see `journal.KINDS`."""


@dataclass
class BreakRecord:
    """The text of an artifact dynamo_graph_break_reason, with the span that was noted before it."""

    text: str
    span: Note | None = None


@dataclass
class CompiledFrame:
    """One attempt at a code object: what the structured trace said of one compile id."""

    id: str
    entry: int | None = None
    call: int | None = None
    function: str = ""
    file: str = ""
    line: int = 0
    operations: int = 0
    traced: bool = False
    graph: bool = False
    guarded: bool | None = None
    finished: bool = False
    started: bool = False
    fail_type: str = ""
    fail_reason: str = ""
    breaks: list[BreakRecord] = field(default_factory=list)
    error_stack: tuple[StackFrame, ...] = ()
    guards_failed: str = ""
    """Text of the guard that failed in the newest cached compilation of the code object; empty for a first one."""
    runs: list[Run] = field(default_factory=list)

    @property
    def later_shape(self) -> bool:
        """True when the code object had been compiled before."""
        return not self.id.endswith("/0")

    @property
    def over_limit(self) -> bool:
        """True when Dynamo gave the code object up after too many compilations, which is no graph break."""
        first = self.fail_reason.strip().partition("\n")[0]
        return self.fail_type.endswith(_LIMIT_ERRORS) or _LIMIT.search(first) is not None

    @property
    def runs_in_python(self) -> bool:
        """True when Dynamo gave the frame up; after other errors than these the program sees an exception."""
        return self.guarded is False and self.fail_type in ("Unsupported", "UserError")

    @property
    def code(self) -> tuple[str, int, str]:
        """What identifies the code object."""
        return (self.file, self.line, self.function)


@dataclass(frozen=True)
class Window:
    """Calls in steady state: how many of each entry."""

    calls: Mapping[int, int]


@dataclass(frozen=True)
class Run:
    """How often a fragment ran in a window, and how long."""

    window: Window
    hits: int
    seconds: float


@dataclass
class Records:
    """Everything that one process noted."""

    index: int
    process: Note
    torch: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    frames: list[CompiledFrame] = field(default_factory=list)
    entries: dict[int, Note] = field(default_factory=dict)
    calls: list[Note] = field(default_factory=list)
    modules: dict[int, str] = field(default_factory=dict)
    """By entry: where its module was saved."""
    totals: dict[int, int] = field(default_factory=dict)
    repeats: dict[tuple[int, str], int] = field(default_factory=dict)
    """By entry and call number: how many calls had the arguments of that call."""
    integers: dict[tuple[int, str], list[dict[str, list[int]]]] = field(default_factory=dict)
    """By entry and call number: the elements of integer tensors, by path, of calls with those arguments."""
    windows: list[Window] = field(default_factory=list)
    observations: dict[object, Note] = field(default_factory=dict)
    counts: dict[object, int] = field(default_factory=dict)
    unwatched: list[Note] = field(default_factory=list)
    settled: list[Note] = field(default_factory=list)
    reached: list[Note] = field(default_factory=list)
    changes: list[Note] = field(default_factory=list)
    looked: bool = False
    """Whether all traced frames were looked at for changes."""
    problems: list[str] = field(default_factory=list)
    ended: bool = False

    @property
    def folder(self) -> str:
        """The working directory, empty when it was not noted."""
        return str(self.process.get("cwd") or "")

    @property
    def rank(self) -> int | None:
        """The rank in a distributed run."""
        rank = self.process.get("rank")
        return rank if isinstance(rank, int) else None

    def entry_name(self, frame: CompiledFrame) -> str:
        """The function given to torch.compile in whose call a frame was compiled, empty when it is not known."""
        entry = self.entries.get(frame.entry) if frame.entry is not None else None
        return str(entry.get("function") or "") if entry else ""

    def is_error(self, frame: CompiledFrame) -> bool:
        """True when a frame that failed without a report did so under fullgraph=True.

        Without a known entry: since torch 2.11 all other failures are reported; and the text of an exception, which
        does not say whether there was code to run, is that of one which the program saw.
        """
        if frame.entry is not None and frame.entry in self.entries:
            return bool(self.entries[frame.entry].get("fullgraph"))
        return frame.guarded is None or (frame.runs_in_python and self.torch_at_least(2, 11))

    def torch_at_least(self, major: int, minor: int) -> bool:
        """False also when the version is not known."""
        found = re.match(r"(\d+)\.(\d+)", self.torch)
        return found is not None and (int(found[1]), int(found[2])) >= (major, minor)

    def calls_of(self, entry: int) -> int:
        """All calls of an entry: the total when it was noted, else those that were noted one by one."""
        noted = max((int(note.get("call") or 0) for note in self.calls if note.get("entry") == entry), default=0)
        return max(self.totals.get(entry, 0), noted)


def collect(notes: Iterable[Note]) -> list[Records]:
    """The records of each process: a "process" note begins one, and all notes up to the next belong to it."""
    processes: list[Records] = []
    reading = None
    for note in notes:
        if note["kind"] == "process" or reading is None:
            records = Records(len(processes), note if note["kind"] == "process" else {})
            if processes and note.get("pid") and processes[-1].process.get("pid") == note["pid"]:
                processes[-1].ended = True  # it replaced itself by another program
            processes.append(records)
            reading = _Reading(records)
        reading.read(note)
    return processes


def reasons(payload: str | None) -> list[str]:
    """The guards that failed, the newest cached compilation first: a JSON list, a JSON string or plain text.

    Of a list that was cut off the first one is read when it is whole.
    """
    text = payload or ""
    try:
        value = json.loads(text)
    except ValueError:
        value = _first_text(text) if text.startswith("[") else text
    return [str(reason) for reason in value] if isinstance(value, list) else [str(value)]


def _first_text(text: str) -> list[str]:
    try:
        return [json.JSONDecoder().raw_decode(text, text.index('"'))[0]]
    except ValueError:
        return []


class _Reading:
    """Fills in the records of one process, note by note."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self._current: dict[str, CompiledFrame] = {}
        self._strings: dict[int, str] = {}
        self._span: Note | None = None

    def read(self, note: Note) -> None:
        records = self.records
        kind = note["kind"]
        if kind == "trace":
            self._trace(note)
        elif kind == "span":
            self._span = note
        elif kind == "torch":
            records.torch = str(note.get("version") or records.torch)
            records.settings.update({str(name): str(value) for name, value in (note.get("settings") or {}).items()})
        elif kind == "entry":
            records.entries[note["entry"]] = note
        elif kind == "call":
            records.calls.append(note)
        elif kind == "module":
            records.modules[int(note["entry"])] = str(note["path"])
        elif kind == "calls":
            records.totals[note["entry"]] = int(note["count"])
            repeats = note.get("arguments") or {}
            records.repeats.update({(note["entry"], str(call)): int(count) for call, count in repeats.items()})
        elif kind == "integers":
            records.integers.setdefault((note["entry"], str(note["call"])), []).append(note["elements"])
        elif kind == "window":
            self._window(note)
        elif kind == "observation":
            records.observations[note["id"]] = note
        elif kind == "observed":
            records.counts[note["id"]] = int(note["count"])
        elif kind == "unwatched":
            records.unwatched.append(note)
        elif kind == "settled":
            records.settled.append(note)
        elif kind == "reached":
            records.reached.append(note)
        elif kind == "change":
            records.changes.append(note)
        elif kind == "looked":
            records.looked = True
        elif kind == "problem":
            records.problems.append(str(note["message"]))
        elif kind == "end":
            records.ended = True

    def _trace(self, note: Note) -> None:
        metadata = note.get("metadata") or {}
        if isinstance(text := metadata.get("str"), list) and len(text) == 2:
            self._strings[text[1]] = str(text[0])
            return
        if (identity := _compile_id(metadata)) is None:
            return
        if "dynamo_start" in metadata:
            self._start(self._frame(identity, note, starts=True), metadata["dynamo_start"])
        elif "dynamo_output_graph" in metadata:
            self._frame(identity, note).graph = True
        elif isinstance(metrics := metadata.get("compilation_metrics"), dict):
            if metrics.get("is_forward") is not False and not metrics.get("is_runtime"):
                self._finish(self._frame(identity, note), metrics)
        elif isinstance(artifact := metadata.get("artifact"), dict):
            self._artifact(artifact.get("name"), identity, note)

    def _artifact(self, name: object, identity: str, note: Note) -> None:
        payload = str(note.get("payload") or "")
        if name == "dynamo_graph_break_reason":
            span = self._span if self._span and _compile_id(self._span) in (identity, None) else None
            self._frame(identity, note).breaks.append(BreakRecord(payload, span=span))
            self._span = None
        elif name == "recompile_reasons":
            self._frame(identity, note).guards_failed = next(iter(reasons(payload)), "")
        elif name == "dynamo_error":
            _, marker, stack = payload.rpartition("from user code:")
            self._frame(identity, note).error_stack = read_stack(stack) if marker else ()

    def _frame(self, identity: str, note: Note, *, starts: bool = False) -> CompiledFrame:
        frame = self._current.get(identity)
        if frame is None or frame.finished or (starts and frame.started):
            frame = CompiledFrame(identity)
            self._current[identity] = frame
            self.records.frames.append(frame)
        if frame.entry is None:
            frame.entry, frame.call = note.get("entry"), note.get("call")
        return frame

    def _start(self, frame: CompiledFrame, start: Note) -> None:
        frame.started = True
        if stack := start.get("stack"):
            code = stack[-1]
            file = code.get("filename", "")
            frame.file = self._strings.get(file, "") if isinstance(file, int) else str(file)
            frame.line, frame.function = int(code.get("line") or 0), str(code.get("name") or "")

    def _finish(self, frame: CompiledFrame, metrics: Note) -> None:
        frame.finished = True
        frame.function = str(metrics.get("co_name") or frame.function)
        frame.file = str(metrics.get("co_filename") or frame.file)
        frame.line = int(metrics.get("co_firstlineno") or frame.line)
        frame.operations = int(metrics.get("graph_op_count") or 0)
        frame.traced = metrics.get("graph_op_count") is not None
        frame.graph = frame.graph or frame.operations > 0
        frame.guarded = metrics.get("has_guarded_code")
        frame.fail_type = str(metrics.get("fail_type") or "")
        frame.fail_reason = str(metrics.get("fail_reason") or "")
        if not frame.guards_failed:
            frame.guards_failed = str(metrics.get("recompile_reason") or "")
        if not frame.file:  # the record of the recompile limit does not name the code object
            self._name_like_its_siblings(frame)
        if frame.fail_reason and not frame.error_stack and metrics.get("fail_user_frame_filename"):
            where = str(metrics["fail_user_frame_filename"]), int(metrics.get("fail_user_frame_lineno") or 0)
            function = frame.function if where[0] == frame.file else ""
            frame.error_stack = (StackFrame(*where, function),)

    def _name_like_its_siblings(self, frame: CompiledFrame) -> None:
        code = frame.id.rpartition("/")[0]
        for other in self._current.values():
            if other.file and other.id.rpartition("/")[0] == code:
                frame.file, frame.line, frame.function = other.code

    def _window(self, note: Note) -> None:
        window = Window({int(entry): int(calls) for entry, calls in (note.get("calls") or {}).items()})
        self.records.windows.append(window)
        for identity, counted in (note.get("regions") or {}).items():
            if frame := self._current.get(identity):
                frame.runs.append(Run(window, int(counted["hits"]), float(counted["seconds"])))


def _compile_id(metadata: Note) -> str | None:
    frame, compilation = metadata.get("frame_id"), metadata.get("frame_compile_id")
    return None if frame is None or compilation is None else f"{frame}/{compilation}"
