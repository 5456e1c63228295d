"""A training script as people write it, and `gbfix fix` on it: one graph a step, and the same loss curve."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

from cli_project import Project

SCRIPT = Path(__file__).resolve().parent.parent / "examples" / "train_transformer.py"
STEP_FUNCTIONS = 2


def run(project: Project) -> str:
    """What the script prints: each loss, accuracy and norm with all of its bits."""
    done = subprocess.run([sys.executable, "train.py"], cwd=project.root, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_training_script_comes_to_one_graph_a_step_with_the_same_curve(project: Project) -> None:
    project.write("train.py", SCRIPT.read_bytes())
    project.commit()
    curve = run(project)
    assert sum("0x1." in line for line in curve.splitlines()) >= 20

    command = [Path(sysconfig.get_path("scripts")) / "gbfix", "fix", "--yes", "--output-format", "json"]
    done = subprocess.run([*command, "--", "train.py"], cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    before, after = document["before"], document["after"]
    assert document["written"]
    assert before["graphs"] > 2 * STEP_FUNCTIONS
    assert before["sites"] >= 4
    assert before["recompiles"] > 5
    assert after["sites"] == 0
    assert after["recompiles"] <= 1
    assert after["graphs"] == STEP_FUNCTIONS + after["recompiles"]
    applied = {fix["code"] for file in document["files"] for fix in file["applied"]}
    assert applied >= {"GBF111", "GBF206", "GBF411"}
    assert run(project) == curve
