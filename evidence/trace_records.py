"""Notes of Dynamo's structured trace: the records that TORCH_TRACE files hold, made in the process itself.

They come from `torch._logging.trace_structured`, the function behind the logger "torch.__trace", and not from a handler
of that logger: as soon as the logger has a handler Dynamo and Inductor make the text of every graph, guard and kernel,
which costs time and has failed on unusual programs; and a program that calls `torch._logging.set_logs`,
`logging.disable` (torch 2.6) or `logging.config.dictConfig` silences the logger or takes its handlers away.
Only these records are noted:

- "dynamo_start": a frame is being compiled; "str": the file names that its stack refers to by number
- "artifact" named "dynamo_graph_break_reason", "recompile_reasons" or "dynamo_error" (an error under fullgraph=True)
- "compilation_metrics": what came out, of the frame and not of its backward graph, with the fields `METRICS`
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gbfix.evidence import recorder
from gbfix.evidence.imports import after_import
from gbfix.evidence.journal import Journal

ARTIFACTS = ("dynamo_graph_break_reason", "recompile_reasons", "dynamo_error")

METRICS = (
    "compile_id",
    "co_name",
    "co_filename",
    "co_firstlineno",
    "cache_size",
    "accumulated_cache_size",
    "guard_count",
    "graph_op_count",
    "graph_node_count",
    "graph_input_count",
    "entire_frame_compile_time_s",
    "backend_compile_time_s",
    "fail_type",
    "fail_reason",
    "fail_user_frame_filename",
    "fail_user_frame_lineno",
    "restart_reasons",
    "has_guarded_code",
    "is_forward",
    "recompile_reason",
    "num_graph_breaks",
)


def install(journal: Journal) -> None:
    """Note the records from now on. Calls from other modules reach them under two names (torch 2.6 to 2.14)."""
    after_import("torch._logging._internal", lambda internal: _wrap(internal, journal))


def _wrap(internal: ModuleType, journal: Journal) -> None:
    original = internal.trace_structured
    records = _Records(journal)

    @functools.wraps(original)
    def trace_structured(name: str, *arguments: object, **options: object) -> object:
        note = records.notes.get(name)
        if note is not None:
            try:
                note(*arguments, **options)
            except Exception as error:
                journal.write("problem", message=f"a trace record {name!r} could not be noted: {error!r}")
        return original(name, *arguments, **options)

    internal.trace_structured = trace_structured  # type: ignore[attr-defined]
    after_import("torch._logging", lambda package: setattr(package, "trace_structured", trace_structured))


class _Records:
    """Writes the notes. The methods take the arguments of `trace_structured`: functions that make the record."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._settings_known = False
        self.notes: dict[str, Callable[..., None]] = {
            "str": self._string,
            "dynamo_start": self._start,
            "artifact": self._artifact,
            "compilation_metrics": self._metrics,
        }

    def _string(self, metadata_fn: Callable[[], tuple[str, int]], **_: object) -> None:
        # A forked child needs the names that its parent met: they are repeated in its journal.
        self._journal.write_header("trace", metadata={"str": list(metadata_fn())}, payload=None, entry=None, call=None)

    def _start(self, metadata_fn: Callable[[], dict[str, Any]], **options: object) -> None:
        if not self._settings_known:  # programs change settings after they imported Dynamo
            self._settings_known = True
            self._journal.write_header("torch", version=_torch_version(), settings=recorder.settings())
        self._write("dynamo_start", metadata_fn(), None, options)

    def _artifact(
        self, metadata_fn: Callable[[], dict[str, Any]], *, payload_fn: Callable[[], object], **options: object
    ) -> None:
        metadata = metadata_fn()
        if metadata.get("name") in ARTIFACTS:
            self._write("artifact", metadata, payload_fn(), options)

    def _metrics(self, metadata_fn: Callable[[], dict[str, Any]], **options: object) -> None:
        found = metadata_fn()
        kept = {name: found[name] for name in METRICS if found.get(name) is not None}
        self._write("compilation_metrics", kept, None, options)

    def _write(self, name: str, record: object, payload: object, options: Mapping[str, object]) -> None:
        text = payload if payload is None or isinstance(payload, str) else json.dumps(payload, default=str)
        metadata = {name: record, **_context(options.get("compile_id"))}
        entry, call = recorder.current_call()
        self._journal.write("trace", metadata=metadata, payload=text, entry=entry, call=call)


def _context(compile_id: object) -> dict[str, object]:
    """The same fields that `trace_structured` adds to a record (torch 2.13)."""
    from torch import distributed
    from torch._guards import CompileContext

    found: dict[str, object] = {}
    if distributed.is_available() and distributed.is_initialized():
        found["rank"] = distributed.get_rank()
    trace_id: Any = CompileContext.current_trace_id()
    compile_id = compile_id if trace_id is None else trace_id.compile_id
    for field in ("compiled_autograd_id", "frame_id", "frame_compile_id"):
        value = getattr(compile_id, field, None)
        if value is not None:
            found[field] = value
    if trace_id is not None:
        found["attempt"] = trace_id.attempt
    return found


def _torch_version() -> str:
    import torch

    return str(torch.__version__)
