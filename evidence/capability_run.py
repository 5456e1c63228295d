"""Runs small programs with the installed PyTorch and says which of them become one graph: a process of its own.

Started as `python -m gbfix.evidence.capability_run FOLDER`: reads the programs from `programs.json` there, by name, and
writes `captured.json`, the names of those that were captured.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = "programs.json"
CAPTURED = "captured.json"


class _Breaks(logging.Handler):
    """Counts the graph breaks that Dynamo reports in its structured trace."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        artifact = getattr(record, "metadata", {}).get("artifact")
        if artifact and artifact.get("name") == "dynamo_graph_break_reason":
            self.count += 1


def captured(name: str, program: str, breaks: _Breaks) -> bool:
    """True when the program's `f` becomes exactly one graph without a break; an error of any kind says no.

    DYNAMIC in the program is what torch.compile is given as `dynamic`.
    """
    import torch

    graphs: list[Any] = []

    def backend(graph: Any, _inputs: object) -> Any:  # noqa: ANN401 (Dynamo hands over what it made)
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    breaks.count = 0
    path = Path(f"{name.replace('.', '_')}.py").resolve()
    try:
        # Dynamo and inspect read the lines of what they trace.
        path.write_text(program, encoding="utf-8")
        namespace: dict[str, Any] = {"__name__": "program"}
        exec(compile(program, str(path), "exec"), namespace)
        compiled: Callable[[torch.Tensor], object] = torch.compile(
            namespace["f"], backend=backend, dynamic=namespace.get("DYNAMIC")
        )
        compiled(torch.tensor([1.0, 2.0]))
    except Exception:
        return False
    return len(graphs) == 1 and breaks.count == 0


def main(folder: Path) -> None:
    """Run the programs of the folder."""
    programs: dict[str, str] = json.loads((folder / PROGRAMS).read_text(encoding="utf-8"))
    trace = logging.getLogger("torch.__trace")
    breaks = _Breaks()
    trace.addHandler(breaks)
    trace.setLevel(logging.DEBUG)
    found = [name for name, program in programs.items() if captured(name, program, breaks)]
    (folder / CAPTURED).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
