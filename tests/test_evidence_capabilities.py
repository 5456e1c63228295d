from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest

from gbfix.analysis.capabilities import CAPTURED_IN_2_13, KNOWN, PROBES
from gbfix.evidence import capabilities
from gbfix.evidence.capabilities import installed_torch, run_programs

PLAIN = "def f(x):\n    return x + 1\n"
MANY = {
    "plain": PLAIN,
    "breaks.in.the.middle": "def f(x):\n    y = x + 1\n    print('said')\n    return y * 2\n",
    "breaks at the end": "def f(x):\n    y = x + 1\n    return y, y.sum().item()\n",
    "raises": "def f(x):\n    raise ValueError\n",
    "has no such function": "import torch\nfrom torch import no_such_name\ndef f(x):\n    return x + 1\n",
    "no python": "def f(:\n",
    "computes nothing": "def f(x):\n    return x\n",
    "plain again": PLAIN,
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of its own, and nothing in memory."""
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_args, **_kwargs: str(tmp_path / "cache"))
    capabilities.captured.cache_clear()
    yield tmp_path / "cache"
    capabilities.captured.cache_clear()


def test_one_graph_and_no_break_is_captured(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    monkeypatch.setenv("TORCH_LOGS", "dynamo")
    assert run_programs(MANY) == {"plain", "plain again"}
    assert capfd.readouterr() == ("", "")


def test_a_process_that_ends_or_hangs_has_no_answer() -> None:
    pytest.importorskip("torch")
    assert run_programs({"plain": PLAIN, "ends": "import os\nos._exit(0)\n"}) is None
    assert run_programs({"plain": PLAIN}, seconds=0.05) is None


def test_the_programs_do_in_the_measured_version_what_is_written_down() -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13."):
        pytest.skip("another version is installed")
    assert run_programs(PROBES) == CAPTURED_IN_2_13


def test_what_was_found_is_remembered_for_this_torch(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    runs = []
    monkeypatch.setattr(capabilities, "run_programs", lambda programs: runs.append(programs) or frozenset({"print"}))
    installed = installed_torch()
    assert installed.version == torch.__version__
    assert not cache.exists()
    for _ in range(2):
        assert installed_torch().captures("print")
        assert not installed_torch().captures("torch._higher_order_ops.print")
        capabilities.captured.cache_clear()
    assert runs == [PROBES]
    (file,) = cache.glob("*.json")
    assert json.loads(file.read_text()) == ["print"]
    file.write_text("[")
    assert installed_torch().captures("print")
    assert len(runs) == 2


def test_without_an_answer_the_measured_version_counts_and_nothing_is_remembered(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(capabilities, "run_programs", lambda _programs: None)
    assert all(installed_torch().captures(probe) == KNOWN.captures(probe) for probe in PROBES)
    assert not list(cache.glob("*.json"))


def test_a_cache_folder_that_cannot_be_made_is_done_without(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    cache.write_text("a file")
    monkeypatch.setattr(capabilities, "run_programs", lambda _programs: frozenset({"print"}))
    assert installed_torch().captures("print")


def test_without_torch_the_measured_version_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert installed_torch() == KNOWN
