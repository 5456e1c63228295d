"""Listens to torch.compile without changing what it does: graphs, where they broke, and what was compiled again."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
import torch._dynamo
from places import from_library
from torch._dynamo import convert_frame, symbolic_convert

_PAGE = re.compile(r"gb/(gb\d+)\.html")


@dataclass(frozen=True)
class Place:
    """A line, with its file counted from the library's folder."""

    file: str
    line: int
    source: str


@dataclass(frozen=True)
class Break:
    """A break, once per place and kind. calls: those that met it. In each call it can be met several times."""

    place: Place
    kind: str
    how: str
    calls: list[int]


@dataclass(frozen=True)
class Recompile:
    """A function that was compiled again, and the first guard that failed."""

    call: int
    function: str
    file: str
    why: str


@dataclass
class Recorder:
    """What torch.compile did in the calls so far. `call` is counted by the user of this."""

    packages: tuple[str, ...]
    """Packages whose code a break is laid on: the innermost frame of theirs."""
    call: int = 0
    counting: bool = True
    graphs: dict[int, int] = field(default_factory=dict)
    breaks: dict[tuple[str, int, str, str], Break] = field(default_factory=dict)
    recompiles: list[Recompile] = field(default_factory=list)

    def backend(self, module: torch.fx.GraphModule, _inputs: list[torch.Tensor]) -> Callable[..., object]:
        """A backend that runs what was captured as it is, and counts it."""
        if self.counting:
            self.graphs[self.call] = self.graphs.get(self.call, 0) + 1
        return module.forward

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen until the end of the block."""
        translator: Any = symbolic_convert.InstructionTranslatorBase
        converter: Any = convert_frame
        broken, again = translator.log_graph_break, converter.get_and_maybe_log_recompilation_reasons

        def log_graph_break(*given: Any, **named: Any) -> Any:  # noqa: ANN401
            arguments = inspect.signature(broken).bind(*given, **named).arguments
            if self.counting:
                self._note_break(arguments.get("reason", ""), arguments.get("exc"))
            return broken(*given, **named)

        def reasons(entries: Any, frame: Any, *rest: Any, **named: Any) -> Any:  # noqa: ANN401
            found = again(entries, frame, *rest, **named)
            if self.counting:
                self._note_recompile(frame.f_code, found)
            return found

        translator.log_graph_break = log_graph_break
        converter.get_and_maybe_log_recompilation_reasons = reasons
        try:
            yield
        finally:
            translator.log_graph_break = broken
            converter.get_and_maybe_log_recompilation_reasons = again

    def stop(self) -> None:
        """Count no more."""
        self.counting = False

    def report(self) -> dict[str, Any]:
        """Everything noted, ready for JSON. Graphs are listed by call."""
        return {
            "graphs": [self.graphs.get(call, 0) for call in range(1, self.call + 1)],
            "breaks": [asdict(found) for found in self.breaks.values()],
            "recompiles": [asdict(found) for found in self.recompiles],
        }

    def _note_break(self, reason: str, exc: Any) -> None:  # noqa: ANN401
        stack = getattr(exc, "real_stack", None)
        place = self._place(stack if stack is not None else torch._guards.TracingContext.extract_stack())
        pages = _PAGE.findall(str(exc))
        kind = pages[-1] if pages else str(getattr(exc, "gb_type", None) or type(exc).__name__)
        how = "skipped" if "falling back to eager" in reason else "resumed"
        key = (place.file, place.line, kind, how)
        found = self.breaks.setdefault(key, Break(place, kind, how, []))
        if self.call not in found.calls:
            found.calls.append(self.call)

    def _place(self, stack: Any) -> Place:  # noqa: ANN401
        frames = list(stack or [])
        own = [frame for frame in frames if from_library(frame.filename).split("/")[0] in self.packages]
        if not frames:
            return Place("?", 0, "")
        frame = (own or frames)[-1]
        source = frame.line or linecache.getline(frame.filename, frame.lineno or 0)
        return Place(from_library(frame.filename), frame.lineno or 0, (source or "").strip())

    def _note_recompile(self, code: Any, reasons: Any) -> None:  # noqa: ANN401
        why = re.sub(r"0x[0-9a-f]+", "0x", str(next(iter(reasons or []), "")))
        self.recompiles.append(
            Recompile(self.call, code.co_name, from_library(code.co_filename), why.split("\n")[0][:300])
        )
