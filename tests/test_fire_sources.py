"""Programs that nobody wrote: none brings gbfix down, what comes out is stable Python, and looking leaves no trace."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from cli_project import REFUSED, SAFE, UNSAFE, Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from killing import gbfix

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its neighbour imports it by this name, and dataclasses look it up
    spec.loader.exec_module(module)
    return module


_load("source_mutations")
fuzz = _load("fuzz_sources")

CRASHED = {
    "a fill without a value": """import torch

@torch.compile
def f(x: torch.Tensor):
    if x.sum() > 0:
        y = x.masked_fill()
    else:
        y = torch.masked_fill(x)
    return y
""",
    "an object made by calling itself": """import warnings

import torch

@torch.compile
def f(x: torch.Tensor, flag: bool):
    y = y()
    warnings.warn(f"y has {y.shape}")
    if flag:
        return y().cos()
    return y.exp()
""",
    "a choice in a lambda whose value is named": """import torch

f = torch.compile(lambda x: torch.mul(x, 2.0) if torch.sum(x) > 0 else torch.add(x, 1.0))
""",
}
"""Programs for which there was an internal error once."""


@pytest.mark.parametrize("name", CRASHED)
def test_what_once_was_an_internal_error(name: str) -> None:
    assert fuzz.tried_text(CRASHED[name]).problem == ""


@settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_no_program_brings_it_down(seed: int) -> None:
    tried = fuzz.tried_text(fuzz.example(seed, 0))
    assert tried.problem == "", tried.text


def test_an_example_is_always_the_same_and_most_are_python() -> None:
    texts = [fuzz.example(7, index) for index in range(100)]
    assert texts == [fuzz.example(7, index) for index in range(100)]
    assert len(set(texts)) > 90
    assert sum(map(fuzz.is_python, texts)) > 80


def test_a_failing_text_is_told_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = fuzz.Counter()
    fuzz._count([fuzz.Tried("x = 1\n", True, "apply: bad"), fuzz.Tried("y\n", False, "")], counts, tmp_path)
    assert counts == {"tried": 2, "python": 2, "changed": 1, "failed": 1}
    assert (tmp_path / "0001.py").read_text() == "x = 1\n"
    assert capsys.readouterr().out == f"{tmp_path}/0001.py: apply: bad\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_looking_leaves_everything_as_it_was(project: Project) -> None:
    """Nothing of the program runs: each file would leave a trace."""
    trace = "open('ran', 'w').close()\nraise SystemExit(3)\n"
    for name, text in {"a.py": SAFE, "b.py": UNSAFE, "pkg/__init__.py": trace, "pkg/c.py": REFUSED + trace}.items():
        project.write(name, f"import pkg.c\n{text}")
    project.write("torch.py", trace)
    project.write("sitecustomize.py", trace)
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    words = [["."], ["a.py", "b.py", "pkg", "torch.py", "sitecustomize.py"]]
    words.append([*reversed(words[1])])
    for command in (["scan"], ["apply", "--dry-run", "--unsafe"], ["scan", "--output-format", "json"]):
        done = [gbfix(project.root, *command, *paths) for paths in [*words, words[0]]]
        assert done[0].code == 1
        assert all(one == done[0] for one in done)
    assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before


def test_looking_changes_nothing_of_the_process(project: Project) -> None:
    path = project.write("module_of_the_user.py", SAFE)
    source = fuzz.SourceText(path, SAFE, "utf-8", False)

    def state() -> tuple[object, ...]:
        return dict(os.environ), os.getcwd(), list(sys.path), list(sys.meta_path), sys.getrecursionlimit()

    before = state()
    outcomes = [fuzz.run(fuzz.Inputs((source,), ()), fuzz.Request(fuzz.all_rules(), edit=True)) for _ in range(2)]
    assert state() == before
    assert outcomes[0] == outcomes[1]
    assert "module_of_the_user" not in sys.modules
