"""Notes of the exact place of each graph break: Dynamo's records have lines, its exceptions have columns as well.

`log_graph_break` of torch._dynamo.symbolic_convert makes the record of a break: a function of the module up to torch
2.9, a method of InstructionTranslatorBase from 2.10 on. The stack of its exception has columns from 2.13 on; before,
and for the end line always, the translators that the exception went through know the instruction they were at. Python
3.10 has no columns at all.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from traceback import FrameSummary, StackSummary
from types import FrameType, ModuleType
from typing import Any

from gbfix.evidence.imports import after_import
from gbfix.evidence.journal import Journal
from gbfix.evidence.recorder import working_folder
from gbfix.evidence.stack import StackFrame, innermost


@dataclass(frozen=True)
class _Positions:
    """Where an instruction is: columns in characters, the end exclusive, None when unknown."""

    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


def install(journal: Journal) -> None:
    """Write a "span" note right before the trace note of each graph break from now on."""
    after_import("torch._dynamo.symbolic_convert", lambda module: _wrap(module, journal))


def _wrap(module: ModuleType, journal: Journal) -> None:
    root = working_folder()
    translator = module.InstructionTranslatorBase
    owner: Any = translator if "log_graph_break" in vars(translator) else module
    original = owner.log_graph_break

    @functools.wraps(original)
    def log_graph_break(*arguments: object, **options: object) -> object:
        try:
            _note(journal, root, [*arguments, *options.values()])
        except Exception as error:
            journal.write("problem", message=f"the columns of a graph break are unknown: {error!r}")
        return original(*arguments, **options)

    owner.log_graph_break = log_graph_break


def _note(journal: Journal, root: str, arguments: Sequence[object]) -> None:
    error = next((value for value in arguments if isinstance(value, BaseException)), sys.exc_info()[1])
    if getattr(error, "logged", False):  # no record follows
        return
    frame = _innermost(_stack(error, arguments), root)
    if frame is None or frame.lineno is None:
        return
    found = _positions(frame, _translators(error))
    journal.write(
        "span",
        **_compile_id(),
        file=frame.filename,
        line=frame.lineno,
        column=found.column,
        end_line=found.end_line,
        end_column=found.end_column,
    )


def _stack(error: BaseException | None, arguments: Iterable[object]) -> Sequence[FrameSummary]:
    from torch._guards import TracingContext

    stack: Any = getattr(error, "real_stack", None)
    if stack is None:  # torch 2.6 hands it over
        stack = next((value for value in arguments if isinstance(value, StackSummary)), None)
    return list(TracingContext.extract_stack() if stack is None else stack)


def _innermost(stack: Sequence[FrameSummary], root: str) -> FrameSummary | None:
    """The frame that the reader takes for the place of the break."""
    frames = [StackFrame(frame.filename, frame.lineno or 0, frame.name) for frame in stack]
    found = innermost(frames, root)
    return None if found is None else stack[max(i for i, frame in enumerate(frames) if frame is found)]


def _translators(error: BaseException | None) -> Iterator[Any]:
    """Dynamo's translators at work, those that the exception has left first."""
    trace = None if error is None else error.__traceback__
    while trace is not None:
        yield _translator_of(trace.tb_frame)
        trace = trace.tb_next
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield _translator_of(frame)
        frame = frame.f_back


def _translator_of(frame: FrameType) -> Any:  # noqa: ANN401
    """What `self` is in a method of Dynamo's translators, None in any other frame."""
    if os.path.basename(frame.f_code.co_filename) != "symbolic_convert.py":
        return None
    variables = frame.f_locals
    found = variables.get("self")
    if sys.version_info < (3, 13):
        # A snapshot, which the frame keeps: what it refers to would live until the next garbage collection.
        variables.clear()
    return found


def _positions(frame: FrameSummary, translators: Iterable[Any]) -> _Positions:
    file, line = frame.filename, frame.lineno or 0
    start, end = getattr(frame, "colno", None), getattr(frame, "end_colno", None)
    for translator in translators:
        at = getattr(getattr(translator, "current_instruction", None), "positions", None)
        if at is None or at.lineno != line or translator.f_code.co_filename != file or at.end_lineno is None:
            continue
        if start is None or (start, end) == (at.col_offset, at.end_col_offset):
            end_column = _characters(file, at.end_lineno, at.end_col_offset)
            return _Positions(_characters(file, line, at.col_offset), at.end_lineno, end_column)
    return _Positions(_characters(file, line, start))  # an end column says nothing without its line


def _characters(file: str, line: int, column: int | None) -> int | None:
    """Python counts columns in bytes of UTF-8."""
    if column is None:
        return None
    text = linecache.getline(file, line).encode("utf-8", "surrogatepass")
    return len(text[:column].decode("utf-8", "replace")) if text else column


def _compile_id() -> dict[str, object]:
    from torch._guards import CompileContext

    found: Any = CompileContext.current_compile_id()
    return {name: getattr(found, name, None) for name in ("frame_id", "frame_compile_id")}
