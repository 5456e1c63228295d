"""The columns of graph breaks, on real breaks of the real torch."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gbfix.evidence import spans
from gbfix.evidence.journal import Journal, read_journal
from gbfix.evidence.launch import observed_environment

HELPER = """
def helper(y):
    return show(y * 2, "é" * 3)

def show(value, text): text = text + "ß"; print(text); return value
"""

PROGRAM = """
import logging
import sys
import traceback

import torch
from library import helper

LOGGER = logging.getLogger("any")

if "--without-columns" in sys.argv:  # as in torch before 2.13
    with_columns = traceback.FrameSummary.__init__

    def without_columns(self, *arguments, colno=None, end_colno=None, **options):
        with_columns(self, *arguments, **options)

    traceback.FrameSummary.__init__ = without_columns

def branch(x):
    if (x
            .sum()) > 0:
        x = x + 1
    return x

def in_a_library(x):
    y = x + 1
    return helper(y)

def over_several_lines(x):
    x = x + 1
    ü = "ü"; print(
        "text",
        x.shape,
    ); x = x + 1
    return x

def inside_the_standard_library(x):
    x = x + 1
    LOGGER.warning("%s", x.shape)
    return x

class Model(torch.nn.Module):
    def forward(self, x):
        x = torch.nn.functional.relu(x)
        number = x.sum().item()
        return x * number

for function in (branch, in_a_library, over_several_lines, inside_the_standard_library, Model()):
    torch.compile(function, backend="eager")(torch.ones(3))
"""

EXPECTED = {
    ("program.py", "(x\n            .sum()) > 0"),
    ("library.py", "print(text)"),
    ("program.py", 'print(\n        "text",\n        x.shape,\n    )'),
    ("program.py", 'LOGGER.warning("%s", x.shape)'),
    ("program.py", "x.sum().item()"),
}

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no columns")


@pytest.fixture(scope="module", params=["", "--without-columns"])
def journal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The notes of the program."""
    folder = tmp_path_factory.mktemp("spans")
    (folder / "journals").mkdir()
    Path(folder, "program.py").write_text(PROGRAM, encoding="utf-8")
    Path(folder, "library.py").write_text(HELPER, encoding="utf-8")
    environment = observed_environment(os.environ, journals=folder / "journals", values=False)
    words = [sys.executable, "program.py", *filter(None, [request.param])]
    done = subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return list(read_journal(next((folder / "journals").iterdir())))


def text_of(span: dict[str, Any]) -> str:
    """The source between the ends of a span."""
    lines = Path(span["file"]).read_text(encoding="utf-8").split("\n")[span["line"] - 1 : span["end_line"]]
    lines[-1] = lines[-1][: span["end_column"]]
    return "\n".join(lines)[span["column"] :]


def test_spans_cover_exactly_what_broke(journal: list[dict[str, Any]]) -> None:
    found = {(Path(note["file"]).name, text_of(note)) for note in journal if note["kind"] == "span"}
    assert found == EXPECTED


def test_each_stands_right_before_the_record_of_its_break(journal: list[dict[str, Any]]) -> None:
    breaks = 0
    for before, note in itertools.pairwise(journal):
        if note["kind"] == "trace" and "artifact" in note["metadata"]:
            breaks += 1
            assert before["kind"] == "span"
            assert before["frame_id"] == note["metadata"]["frame_id"]
            assert before["frame_compile_id"] == note["metadata"]["frame_compile_id"]
            assert f'File "{before["file"]}", line {before["line"]}' in note["payload"]
    assert breaks == sum(note["kind"] == "span" for note in journal) >= len(EXPECTED)


def test_the_function_of_older_versions_is_wrapped_where_it_is(tmp_path: Path) -> None:
    module: Any = ModuleType("symbolic_convert")
    module.InstructionTranslatorBase = type("InstructionTranslatorBase", (), {})
    logged = []

    # The signature of torch 2.6.
    def log_graph_break(
        code_options: object, reason: str = "", exc_info: bool = False, user_stack: object = None
    ) -> None:
        logged.append((code_options, reason, exc_info, user_stack))

    module.log_graph_break = log_graph_break
    spans._wrap(module, Journal(tmp_path / "1.jsonl"))
    stack = traceback.StackSummary.from_list([("/project/a.py", 3, "f", None)])
    module.log_graph_break({}, reason="why", user_stack=stack)
    assert logged == [({}, "why", False, stack)]
    (note,) = read_journal(tmp_path / "1.jsonl")
    assert (note["kind"], note["file"], note["line"], note["column"]) == ("span", "/project/a.py", 3, None)


def test_no_argument_is_kept_alive(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(KEEPS_NOTHING, encoding="utf-8")
    (tmp_path / "journal").mkdir()
    environment = observed_environment(os.environ, journals=tmp_path / "journal", values=False)
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("printed\nTrue\n", "")


KEEPS_NOTHING = """
import gc
import weakref

import torch


@torch.compile(backend="eager")
def fails(x):
    y = x + 1
    print("printed")
    raise KeyError(y)


gc.disable()
argument = torch.ones(3)
known = weakref.ref(argument)
try:
    fails(argument)
except KeyError:
    pass
del argument
print(known() is None)
"""
