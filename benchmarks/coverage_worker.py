"""Call every snippet of a folder once per arguments, in one mode, and write what was seen: see coverage.py.

python benchmarks/coverage_worker.py FOLDER eager|compiled FILE
"""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from gbfix.equivalence.compile_records import recorded
from gbfix.equivalence.model import Observation
from gbfix.equivalence.observation import observe_call

Seen = dict[str, tuple[list[Observation], int, int]]
"""By snippet: what each call did, how many graphs and how many break sites it gave."""


def main(folder: Path, mode: str, file: Path) -> None:
    """Load `calls.py` of the folder and make its calls."""
    sys.path.insert(0, str(folder))
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    import calls

    seen = {call.name: _observe(folder, call, compiled=mode == "compiled") for call in calls.CALLS}
    file.write_bytes(pickle.dumps(seen))


def _observe(folder: Path, call: Any, *, compiled: bool) -> tuple[list[Observation], int, int]:  # noqa: ANN401
    torch.compiler.reset()
    graphs: list[object] = []

    def counting(graph: torch.fx.GraphModule, _inputs: object) -> object:
        graphs.append(graph)
        return graph.forward

    function = torch.compile(call.function, backend=counting, dynamic=call.dynamic) if compiled else call.function
    with recorded(folder) as records, torch._dynamo.config.patch(**call.config):
        observations = [_called(function, arguments) for arguments in call.arguments]
        sites = {(b.place.file, b.place.line, b.place.column) for b in records.evidence().breaks}
    return observations, len(graphs), len(sites)


def _called(function: Any, arguments: Any) -> Observation:  # noqa: ANN401
    made = arguments() if callable(arguments) else copy.deepcopy(arguments)
    return observe_call(function, tuple(made), {}, names=[f"argument {n}" for n in range(len(made))])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
