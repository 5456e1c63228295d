"""Counting in forked children of a process that has imported Dynamo, as in a check; the same sites as `gbfix trace`."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gbfix.evidence.launch import observed_environment
from gbfix.evidence.reader import journal_notes, read_evidence

PROGRAM = """\
import sys

import torch


def clean(x, n):
    return x.sin() + 1


def plus(x, n):
    return x.sin() + n


def branch(x, n):
    if x.sum() > 0:
        return x + 1
    return x - 1


def helped(x, n):
    return branch(x, n) + branch(x * 2, n)


def item(x, n):
    return x * x.sum().item()


def loop(x, n):
    for i in range(3):
        print("once")
        x = x + i
    return x


def third_shape(x, n):
    return x + 1 if x.shape[0] != 6 else branch(x, n)


def raises(x, n):
    if n == 3:
        raise ValueError("three")
    return x + 1


def always(x, n):
    raise ValueError(f"always\\n{x.sum()}")


def leaves(x, n):
    sys.exit(3)


def disabled(x, n):
    return outside(x) + 1


@torch.compiler.disable
def outside(x):
    return x * 2


@torch.compile(backend="eager")
def texts(x, n):
    return x + len(n)


def limit(x, n):
    for i in range(12):
        x = texts(x, "a" * i)
    return x


def trains(x, n):
    torch.compile(clean, backend="aot_eager")(x.requires_grad_(), n).sum().backward()


def at_start(x):
    return x.cos() + 1


torch.compile(at_start, backend="eager")(torch.ones(2))
"""

DRIVER = """\
import importlib, json, os, sys, warnings
from dataclasses import asdict
from pathlib import Path

import torch
import torch._dynamo

from gbfix.equivalence.counts import count

NOT_COMPILED = ("limit", "trains")

def observed(name):
    def load(fullgraph):
        sys.modules.pop("program", None)
        function = getattr(importlib.import_module("program"), name)
        if name not in NOT_COMPILED:
            function = torch.compile(function, backend="eager", fullgraph=fullgraph)
        return lambda example: function(torch.ones(example[0]), example[1])
    counts = count(load, [(4, 2), (4, 3), (6, 2)], root=Path.cwd())
    assert "GBFIX_VALUES" not in os.environ
    return asdict(counts)

sys.path.insert(0, os.getcwd())
for name in sys.argv[1:]:
    process = os.fork()
    if process == 0:
        Path(name + ".json").write_text(json.dumps(observed(name)))
        os._exit(0)
    os.waitpid(process, 0)
"""

TRACED = ("branch", "helped", "item", "loop", "disabled")
NAMES = (*TRACED, "clean", "plus", "third_shape", "raises", "always", "leaves", "limit", "trains")


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="gbfix-tests-")
    Path(folder.name, "program.py").write_text(PROGRAM)
    Path(folder.name, "driver.py").write_text(DRIVER)
    subprocess.run([sys.executable, "driver.py", *NAMES], cwd=folder.name, check=True, capture_output=True)
    return folder


def _counts(name: str) -> Any:
    return json.loads(Path(_folder().name, f"{name}.json").read_text())


def _line(text: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def test_one_graph_that_is_compiled_again_for_another_size() -> None:
    assert _counts("clean") == {
        "graphs": 1,
        "breaks": [],
        "skipped_frames": 0,
        "recompiles_values": 0,
        "recompiles_shapes": 1,
        "limit_hits": 0,
        "fullgraph": True,
        "fullgraph_error": "",
        "raised": "",
    }


def test_a_recompile_for_another_value() -> None:
    counts = _counts("plus")
    assert (counts["recompiles_values"], counts["recompiles_shapes"]) == (1, 1)


def test_a_break_site_and_why_one_graph_is_not_enough() -> None:
    counts = _counts("branch")
    assert counts["graphs"] == 2
    line = _line("if x.sum() > 0")
    assert counts["breaks"] == [
        {"file": "program.py", "line": line, "gb": "GB0170", "kind": "Data-dependent branching"}
    ]
    assert not counts["fullgraph"]
    assert counts["fullgraph_error"] == f"GB0170 Data-dependent branching at program.py:{line}"


def test_a_break_that_fullgraph_does_not_see() -> None:
    counts = _counts("item")
    assert [site["gb"] for site in counts["breaks"]] == ["GB0124"]
    assert counts["graphs"] == 2
    assert counts["fullgraph"]


def test_a_frame_that_runs_in_python() -> None:
    counts = _counts("loop")
    assert (counts["graphs"], counts["skipped_frames"], len(counts["breaks"])) == (0, 1, 1)
    assert counts["recompiles_values"] == counts["recompiles_shapes"] == 0


def test_what_a_later_shape_breaks_is_not_counted_for_the_first_call_but_is_no_full_graph() -> None:
    counts = _counts("third_shape")
    assert (counts["graphs"], counts["breaks"]) == (1, [])
    assert counts["fullgraph_error"].startswith("call 3: GB0170 ")


def test_an_exception_of_the_program_is_noted_and_is_no_refusal_of_the_compiler() -> None:
    counts = _counts("raises")
    assert counts["raised"] == "call 2: ValueError: three"
    assert (counts["graphs"], counts["fullgraph"], counts["fullgraph_error"]) == (1, True, "")
    assert _counts("always")["raised"] == "call 1: ValueError: always"
    assert _counts("leaves")["raised"] == "call 1: SystemExit: 3"


def test_a_code_object_that_dynamo_gives_up_on() -> None:
    assert _counts("limit")["limit_hits"] == 1
    assert _counts("branch")["limit_hits"] == 0


def test_the_backward_pass_is_no_graph() -> None:
    assert _counts("trains")["graphs"] == 1


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> list[list[object]]:
    """The break sites of one call of each function under gbfix trace."""
    journals = tmp_path_factory.mktemp("journals")
    root = Path(_folder().name)
    calls = "".join(
        f"torch.compile(program.{name}, backend='eager')(torch.ones(4), 2); torch._dynamo.reset()\n" for name in TRACED
    )
    (root / "calls.py").write_text(f"import torch, program\n{calls}")
    environment = observed_environment(os.environ, journals=journals, values=False)
    subprocess.run([sys.executable, "calls.py"], cwd=root, env=environment, check=True, capture_output=True)
    evidence = read_evidence(journal_notes(journals), root=root)
    return [[row.place.file, row.place.line, row.gb, row.kind] for row in evidence.breaks]


def test_the_sites_are_those_of_gbfix_trace(traced: list[list[object]]) -> None:
    counted = [list(site.values()) for name in TRACED for site in _counts(name)["breaks"]]
    assert {tuple(site) for site in counted} == {tuple(site) for site in traced}
    assert len(traced) >= len(TRACED) - 1  # `helped` breaks where `branch` does
