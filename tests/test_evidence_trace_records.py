"""The notes of Dynamo's trace against TORCH_TRACE files of the very same run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gbfix.evidence.journal import read_journal
from gbfix.evidence.launch import observed_environment
from gbfix.evidence.trace_records import ARTIFACTS, METRICS

PROGRAM = """
import logging
import logging.config

import torch

def helper(y):
    print(end="")
    return y * 2

@torch.compile(backend="eager")
def splits(x, n):
    y = x + n
    if y.sum() > 0:
        y = y - 1
    return helper(y)

@torch.compile(backend="aot_eager")
def with_gradient(x):
    return (x * x).sum()

@torch.compile(backend="eager", fullgraph=True)
def fails(x):
    print(x)
    return x

def silenced(x):
    return x + 1

for n in (1, 2, 3):
    splits(torch.ones(n + 2), n)
with_gradient(torch.ones(2, requires_grad=True)).backward()
try:
    fails(torch.ones(2))
except Exception as error:
    print(type(error).__name__)
logging.disable()
logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})
torch._logging.set_logs()
torch.compile(silenced, backend="eager")(torch.ones(2))
"""

LINE = re.compile(r"^V\d{4} .*?\] (\{.*)$")
ADDED = ("has_payload", "stack")


@dataclass(frozen=True)
class Run:
    stdout: str
    stderr: str
    notes: list[dict[str, Any]]
    file: list[tuple[dict[str, Any], str | None]]


def read_file(path: Path) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The records of a TORCH_TRACE file."""
    metadata: dict[str, Any] | None = None
    payload: list[str] = []
    for line in [*path.read_text().split("\n"), "V0000 ] {}"]:
        if line.startswith("\t"):
            payload.append(line[1:])
        elif found := LINE.match(line):
            if metadata is not None:
                yield metadata, "\n".join(payload) if "has_payload" in metadata else None
            metadata, payload = json.loads(found[1]), []


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One program, observed and with TORCH_TRACE."""
    folder = tmp_path_factory.mktemp("run")
    for name in ("trace", "journals"):
        (folder / name).mkdir()
    Path(folder, "program.py").write_text(PROGRAM)
    environment = observed_environment(os.environ, journals=folder / "journals", values=False)
    environment["TORCH_TRACE"] = str(folder / "trace")
    words = [sys.executable, "program.py"]
    done = subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    notes = [note for note in read_journal(next((folder / "journals").iterdir())) if note["kind"] == "trace"]
    return Run(done.stdout, done.stderr, notes, list(read_file(next((folder / "trace").iterdir()))))


def plain(metadata: dict[str, Any], *leave_out: str) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name not in (*ADDED, *leave_out)}


def name_of(metadata: dict[str, Any]) -> str:
    return str(metadata.get("artifact", {}).get("name"))


def test_the_program_prints_what_it_would(run: Run) -> None:
    assert (run.stdout, run.stderr) == ("Unsupported\n", "")


@pytest.mark.parametrize("name", ARTIFACTS)
def test_artifacts_are_those_of_the_file(run: Run, name: str) -> None:
    found = [(note["metadata"], note["payload"]) for note in run.notes if name_of(note["metadata"]) == name]
    assert len(found) >= {"dynamo_error": 1}.get(name, 3)
    assert found == [(plain(metadata), payload) for metadata, payload in run.file if name_of(metadata) == name]


@pytest.mark.parametrize("name", ["dynamo_start", "str"])
def test_starts_and_strings_are_those_of_the_file(run: Run, name: str) -> None:
    found = [note["metadata"] for note in run.notes if name in note["metadata"]]
    # The file ends where the program reset the loggers; the notes do not.
    expected = [plain(metadata) for metadata, _ in run.file if name in metadata]
    assert len(expected) > 2
    if name == "str":  # a file holds more of them: other records have stacks, too
        assert all(metadata in found for metadata in expected if metadata["str"][0].endswith("program.py"))
    else:
        assert found[: len(expected)] == expected


def test_metrics_are_those_of_the_file_without_what_nobody_reads(run: Run) -> None:
    found = [note["metadata"] for note in run.notes if "compilation_metrics" in note["metadata"]]
    expected = [plain(metadata) for metadata, _ in run.file if "compilation_metrics" in metadata]
    for metadata in expected:
        fields = metadata["compilation_metrics"]
        metadata["compilation_metrics"] = {name: fields[name] for name in METRICS if fields.get(name) is not None}
    assert found[: len(expected)] == expected
    assert {"fail_type", "fail_reason", "fail_user_frame_lineno"} <= set(found[-2]["compilation_metrics"])


def test_a_program_that_silences_its_loggers_is_still_seen(run: Run) -> None:
    assert run.notes[-1]["metadata"]["compilation_metrics"]["co_name"] == "silenced"
    assert not any(metadata.get("compilation_metrics", {}).get("co_name") == "silenced" for metadata, _ in run.file)


def test_nothing_else_is_noted(run: Run) -> None:
    kinds = {next(iter(note["metadata"])) for note in run.notes}
    assert kinds == {"str", "dynamo_start", "artifact", "compilation_metrics"}
    assert {name_of(note["metadata"]) for note in run.notes if "artifact" in note["metadata"]} == set(ARTIFACTS)


def test_each_record_knows_the_call_that_it_belongs_to(run: Run) -> None:
    calls = [(note["entry"], note["call"]) for note in run.notes if "compilation_metrics" in note["metadata"]]
    assert calls[0] == (1, 1)
    assert (1, 2) in calls
    assert calls[-1][1] == 1
