from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_project import Project
from typer.testing import CliRunner

from gbfix.cli.application import app
from gbfix.codemods import all_rules
from gbfix.engine.model import Rule

RULES = all_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_by_code_and_by_name(rule: Rule) -> None:
    by_code, by_name, in_small_letters = (
        CliRunner().invoke(app, ["explain", wanted]) for wanted in (rule.code, rule.name, rule.code.lower())
    )
    assert by_code.exit_code == 0
    assert by_code.output.startswith(f"{rule.code} {rule.name}\n\n{rule.summary}\n\n")
    assert rule.documentation.strip() in by_code.output
    assert by_name.output == in_small_letters.output == by_code.output


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [("GBF1O1", "GBF101"), ("tensor-value-brnch", "GBF101"), ("GB00599", "GB0059"), ("recompile", "recompiles")],
)
def test_an_unknown_name_with_a_near_match(project: Project, wanted: str, meant: str) -> None:
    done = project.gbfix("explain", wanted)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: no rule and no graph break id of PyTorch is called '{wanted}'; did you mean ")
    assert meant in done.err


def test_an_unknown_name_without_one(project: Project) -> None:
    done = project.gbfix("explain", "what?")
    assert done.code == 2
    assert done.err == (
        "error: no rule and no graph break id of PyTorch is called 'what?'; `gbfix rules` lists the rules\n"
    )


@pytest.mark.parametrize("wanted", ["GB9999", "GBF999"])
def test_for_a_number_that_is_not_there_no_other_is_guessed(project: Project, wanted: str) -> None:
    done = project.gbfix("explain", wanted)
    assert done.code == 2
    assert "did you mean" not in done.err


def test_a_line_of_a_report_names_a_rule(project: Project) -> None:
    done = project.gbfix("explain", "train.py:7:5  GBF101 tensor-value-branch   safe")
    assert done.out == project.gbfix("explain", "GBF101").out


def test_an_id_in_every_spelling(project: Project) -> None:
    by_id = project.gbfix("explain", "GB0059")
    assert by_id.code == 0
    assert by_id.out.startswith("GB0059  Failed to trace builtin operator\n\nThe program calls a Python builtin")
    assert "  1. " in by_id.out
    assert "\nWhat gbfix does\n" in by_id.out
    assert by_id.out.endswith("compile-graph-break-site/gb/gb0059.html\n")
    assert "\x1b" not in by_id.out
    page = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html"
    message = "Graph break: Failed to trace builtin operator (GB0059)"
    title = "Failed to trace builtin operator"
    for spelling in ("gb0059", "gb59", "59", " GB59 ", page, message, title):
        assert project.gbfix("explain", spelling).out == by_id.out


def test_an_id_that_rules_handle(project: Project) -> None:
    done = project.gbfix("explain", "gb0170")
    assert done.code == 0
    named = {
        rule.code for rule in RULES if f"  {rule.code} {rule.name} rewrites it: " in " ".join(done.out.split("\n"))
    }
    assert {"GBF101", "GBF103"} <= named
    assert "  GBF108 tensor-value-loop says what to do: " in done.out


@pytest.mark.parametrize(("id_", "answer"), [("GB0000", "Advises"), ("GB0004", "Advises")])
def test_what_gbfix_does_about_an_id_that_no_rule_handles(project: Project, id_: str, answer: str) -> None:
    assert f"What gbfix does\n  {answer}" in project.gbfix("explain", id_).out


def test_an_exception_without_an_id(project: Project) -> None:
    done = project.gbfix("explain", "usererror")
    assert done.code == 0
    assert done.out.startswith("UserError\n\n")
    assert "PyTorch's page" not in done.out


def test_the_reasons_for_recompilation(project: Project) -> None:
    done = project.gbfix("explain", "Recompiles")
    assert done.code == 0
    assert "\nglobal state\n" in done.out
    assert "mark_dynamic" in done.out


@pytest.mark.parametrize("wanted", ["GB0059", "GB0124", "recompiles"])
def test_lines_fit_a_terminal(project: Project, wanted: str) -> None:
    assert max(len(line) for line in project.gbfix("explain", wanted).out.splitlines()) <= 80


def test_no_torch_is_needed_and_none_imported(tmp_path: Path) -> None:
    """A torch that cannot be imported, without a registry: ids are explained, their titles are not known."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('imported')")
    command = [sys.executable, "-c", "from gbfix.cli.main import main; main()", "explain", "GB0059"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("GB0059  (the installed PyTorch, if any, does not know this id)\n\nThe program calls")
