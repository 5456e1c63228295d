"""The recorder in every kind of process that a program can start, with the real torch."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gbfix.evidence import recorder
from gbfix.evidence.journal import read_journal
from gbfix.evidence.launch import observed_environment

RANKS = """
import multiprocessing
import os
import sys

import torch

@torch.compile(backend="eager")
def compiled(x):
    print(end="")
    return x + 1

def work(label):
    sys.argv.append(label)
    compiled(torch.ones(3))

if __name__ == "__main__":
    rank = int(os.environ["RANK"])
    torch._dynamo.config.recompile_limit = 3 + rank
    compiled(torch.ones(2))
    if rank == 0:
        for method in ("fork", "spawn"):
            process = multiprocessing.get_context(method).Process(target=work, args=(method,))
            process.start()
            process.join()
            assert process.exitcode == 0
        if os.fork() == 0:
            os._exit(0)
        os.wait()
"""

TESTS = """
import torch

def test_compiled():
    assert torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)).tolist() == [2, 2]

def test_other():
    assert 1 + 1 == 2
"""

NESTED = """
import torch
from torch._dynamo.utils import counters

def function(x):
    @torch.compile(backend="eager", fullgraph=True)
    def inner(x):
        return x - 1
    return inner(x) + 1

torch.compile(function, backend="eager")(torch.ones(2))
print(sorted((kind, name, count) for kind, found in counters.items() for name, count in found.items()))
"""

Journal = list[dict[str, Any]]


def observe(words: Sequence[str], folder: Path) -> tuple[subprocess.CompletedProcess[str], list[Journal]]:
    """Run a command under observation in the folder; its result, and the notes of each process that took some."""
    journals = folder / "journals"
    journals.mkdir()
    environment = observed_environment(os.environ, journals=journals)
    done = subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True)
    return done, [list(read_journal(file)) for file in sorted(journals.iterdir())]


def kinds(journal: Journal) -> list[str]:
    return [note["kind"] for note in journal]


def compiled_frames(journal: Journal) -> list[str]:
    metrics = [note["metadata"].get("compilation_metrics") for note in journal if note["kind"] == "trace"]
    return [found["co_name"] for found in metrics if found]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[Journal]:
    """The notes of a program under torchrun with two ranks, of which the first starts more processes."""
    folder = tmp_path_factory.mktemp("ranks")
    Path(folder, "script.py").write_text(RANKS)
    words = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone", "script.py"]
    done, journals = observe([sys.executable, *words], folder)
    assert done.returncode == 0, done.stderr
    return journals


def test_every_process_that_compiled_has_its_own_complete_notes(ranks: list[Journal]) -> None:
    compiling = [journal for journal in ranks if compiled_frames(journal)]
    assert len(compiling) == 4  # two ranks, and below the first a forked and a spawned worker
    for journal in compiling:
        assert kinds(journal)[0:2] == ["process", "torch"]
        assert kinds(journal)[-1] == "end"
        assert kinds(journal).count("end") == kinds(journal).count("process") == 1
    pids = [journal[0]["pid"] for journal in ranks]
    assert len(set(pids)) == len(pids)


def test_ranks_are_known_and_the_launcher_has_none(ranks: list[Journal]) -> None:
    launchers = [journal for journal in ranks if "torch.distributed.run" in journal[0]["argv"]]
    assert [journal[0]["rank"] for journal in launchers] == [None]
    found = sorted((journal[0]["rank"], len(compiled_frames(journal))) for journal in ranks if journal[0]["rank"] == 1)
    assert found == [(1, 2)]


def test_settings_are_those_of_the_first_compilation(ranks: list[Journal]) -> None:
    found = set()
    for journal in ranks:
        notes = [note for note in journal if note["kind"] == "torch"]
        if compiled_frames(journal):
            found.add((journal[0]["rank"], notes[-1]["settings"].get("recompile_limit")))
            assert "recompile_limit" not in notes[0]["settings"]
    assert (0, "3") in found
    assert (1, "4") in found


def test_a_forked_worker_knows_the_file_names_that_its_parent_met(ranks: list[Journal]) -> None:
    for journal in ranks:
        records = [note["metadata"] for note in journal if note["kind"] == "trace"]
        names = {record["str"][1]: record["str"][0] for record in records if "str" in record}
        starts = [record["dynamo_start"]["stack"][-1] for record in records if "dynamo_start" in record]
        assert all(names[start["filename"]].endswith("script.py") for start in starts)


def test_no_observer_failed(ranks: list[Journal]) -> None:
    assert [note for journal in ranks for note in journal if note["kind"] == "problem"] == []


def test_pytest_runs_as_without(tmp_path: Path) -> None:
    Path(tmp_path, "test_it.py").write_text(TESTS)
    done, journals = observe([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 passed" in done.stdout
    assert [compiled_frames(journal) for journal in journals] == [["<lambda>"]]


def test_a_program_without_torch_has_two_notes(tmp_path: Path) -> None:
    done, journals = observe([sys.executable, "-c", "print(1)"], tmp_path)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert [kinds(journal) for journal in journals] == [["process", "end"]]
    assert journals[0][0]["cwd"] == str(tmp_path)


def test_a_torch_that_is_too_old_is_named_and_left_alone(tmp_path: Path) -> None:
    Path(tmp_path, "torch").mkdir()
    Path(tmp_path, "torch", "__init__.py").write_text("__version__ = '2.5.1+cu121'\n")
    done, journals = observe([sys.executable, "-c", "import torch"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert kinds(journals[0]) == ["process", "torch", "problem", "end"]
    assert journals[0][2]["message"] == "PyTorch 2.5.1+cu121 is too old: gbfix trace needs 2.6 or newer"


def test_a_torch_that_the_program_finds_in_its_own_way_is_said_to_be_missing(tmp_path: Path) -> None:
    Path(tmp_path, "torch").mkdir()
    Path(tmp_path, "torch", "__init__.py").write_text("__version__ = '2.13.0'\n")
    code = "import sys; from importlib.machinery import PathFinder; sys.meta_path.insert(0, PathFinder); import torch"
    done, journals = observe([sys.executable, "-c", code], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert kinds(journals[0]) == ["process", "problem", "end"]
    assert "imported in a way that gbfix did not notice" in journals[0][1]["message"]


def test_observers_that_cannot_be_set_up_are_named_and_stop_nothing(tmp_path: Path) -> None:
    Path(tmp_path, "torch").mkdir()
    Path(tmp_path, "torch", "__init__.py").write_text("__version__ = '2.6.0'\n")
    code = (
        "import sys\nfrom pathlib import Path\nfrom types import SimpleNamespace\n"
        "from gbfix.evidence import recorder\n"
        "set_up = []\n"
        "def load(name):\n"
        "    if name.endswith('spans'):\n"
        "        raise ImportError('its reason')\n"
        "    return SimpleNamespace(install=lambda journal: set_up.append(name))\n"
        "recorder.start(recorder.open_journal('.'), load)\n"
        "import torch\n"
        "print(len(set_up), recorder.current_call.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True, check=True)
    assert done.stdout == f"{len(recorder.OBSERVERS) - 1} current_call\n"
    journal = list(read_journal(next(tmp_path.glob("*.jsonl"))))
    message = "gbfix could not set up its observer 'spans': ImportError: its reason"
    assert [note["message"] for note in journal if note["kind"] == "problem"] == [message]


def test_dynamo_takes_no_frame_of_the_recording_half_for_one_of_the_program(tmp_path: Path) -> None:
    """While a compiled function runs in Python, Dynamo looks at every frame that begins."""
    Path(tmp_path, "nested.py").write_text(NESTED)
    plain = subprocess.run([sys.executable, "nested.py"], cwd=tmp_path, text=True, capture_output=True, check=True)
    done, _ = observe([sys.executable, "nested.py"], tmp_path)
    assert "('frames', 'total', " in plain.stdout
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)
