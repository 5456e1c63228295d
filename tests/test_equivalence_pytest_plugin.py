from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

PLUGIN = "gbfix.equivalence.pytest_plugin"


def run_pytest(folder: Path, *arguments: str, program: str = "") -> subprocess.CompletedProcess[str]:
    """pytest in a folder of its own, with no other plugin than this one."""
    code = f"import sys, pytest; code = pytest.main(sys.argv[1:]); {program or 'sys.exit(code)'}"
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-q", *arguments]
    command = [sys.executable, "-c", code, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_is_an_entry_point_of_pytest() -> None:
    assert [each.value for each in entry_points(group="pytest11", name="gbfix")] == [PLUGIN]


def test_the_helpers_are_fixtures(tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text("""
import torch
from hypothesis import given, settings, strategies as st


def test_helpers(assert_equivalent, assert_graphs, tensors):
    assert_equivalent(torch.relu, lambda x: x.relu(), (torch.ones(2),))
    assert_graphs(lambda x: x.relu(), (torch.ones(2),))
    assert tensors(2).example().shape == (2,)


def test_the_package_gives_the_same(tensors):
    from gbfix import equivalence

    assert equivalence.tensors is tensors


@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_fixtures_go_with_hypothesis(tensors, assert_equivalent, data):
    assert_equivalent(torch.relu, torch.relu, (data.draw(tensors(2)),))
""")
    result = run_pytest(tmp_path, "-W", "ignore")
    assert result.returncode == 0, result.stdout
    assert "3 passed" in result.stdout


def test_a_project_without_torch_stays_without(tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text("def test_nothing():\n    pass\n")
    loaded = "sys.exit(code or 10 * ('torch' in sys.modules) + 20 * ('hypothesis.core' in sys.modules))"
    options = ("-p", "no:hypothesispytest")
    for arguments in (("--collect-only", *options), options):
        result = run_pytest(tmp_path, *arguments, program=loaded)
        assert result.returncode == 0, result.stdout + result.stderr


def test_nothing_is_added_to_the_output(tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text("def test_nothing():\n    pass\n")
    outputs = []
    for options in ((), ("-p", "no:gbfix")):
        result = run_pytest(tmp_path, *options)
        outputs.append([line.partition(" in ")[0] for line in result.stdout.splitlines()])
    assert outputs[0] == outputs[1]


def test_the_marker_is_known_under_strict_markers(tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text(
        "import pytest\n\n@pytest.mark.gpu\ndef test_nothing():\n    pass\n\n"
        "@pytest.mark.other\ndef test_other():\n    pass\n"
    )
    result = run_pytest(tmp_path, "--strict-markers")
    assert "'other' not found in `markers`" in result.stdout
    assert "'gpu' not found" not in result.stdout


def test_a_projects_own_marker_stays_the_only_one(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu(kind): our own\n")
    (tmp_path / "conftest.py").write_text(
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: ours')\n"
    )
    result = run_pytest(tmp_path, "--markers")
    assert result.stdout.count("@pytest.mark.gpu") == 1
    assert "@pytest.mark.gpu(kind): our own" in result.stdout
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'gpu: in conftest')\n"
    )
    result = run_pytest(tmp_path, "--markers")
    assert result.stdout.count("@pytest.mark.gpu") == 1
    assert "@pytest.mark.gpu: in conftest" in result.stdout
