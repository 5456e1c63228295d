"""Messages with a fixed text are said by the graph, or stay with the reason."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from cli_project import Project

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import _graph_reports
from gbfix.codemods._graph_speech import maker_source
from gbfix.codemods._reports import report_findings
from gbfix.engine.model import Discharge, Finding
from gbfix.engine.passes import fix_text
from gbfix.evidence.store import load_evidence

HEAD = """\
import contextlib
import logging
import warnings

import torch

logger = logging.getLogger("case")
TEXT = "text"
if TEXT:
    WORD = "a"
else:
    WORD = "b"


def helper(x, n, writer):
"""
TAIL = """

@torch.compile
def f(x: torch.Tensor, n: int, writer):
    return helper(x.sin(), n, writer).cos()
"""


def program(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n" + TAIL


def findings(text: str) -> list[Finding]:
    return list(report_findings(load([parse("program.py", text)]).view("program.py")))


def claims(finding: Finding) -> dict[str, Discharge]:
    return {one.claim: one.discharge for one in finding.obligations}


@pytest.mark.parametrize(
    "message",
    [
        'logger.info("a")',
        'logger.warning("%d of %s", 2, TEXT)',
        'logger.log(logging.INFO, "a")',
        'logging.info("a")',
        'logger.warning_once("a" "b")',
        'warnings.warn("a", FutureWarning)',
        'warnings.warn("a" + TEXT, category=UserWarning)',
    ],
)
def test_graph_says_it(message: str) -> None:
    after = fix_text(
        program(f"for _ in range(2):\n    {message}\n    x = x + 1\nreturn x"), findings, unsafe=True
    ).after
    assert f"@_in_graph\ndef _report_helper() -> None:\n    {message}\n" in after
    assert "    for _ in range(2):\n        _report_helper()\n        x = x + 1\n" in after
    assert after.count(maker_source("_in_graph", "torch")) == 1
    assert fix_text(after, findings, unsafe=True).after == after


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('logger.info("%s", writer)\nreturn x', "writer is a name of the function"),
        ('n = float(n)\nlogger.info("%s", n)\nreturn x', "n is a name of the function"),
        ('n = x.sum().item()\nlogger.info("%s", n)\nreturn x', "n is a name of the function"),
        ('logger.info(f"{x.mean()}")\nreturn x', "x.mean() is computed for it"),
        ('writer.info("a")\nlogging.info("a", stack_info=True)\nreturn x', "stack_info may ask"),
        ("logger.info(WORD)\nreturn x", "WORD may change"),
        ('logger.exception("a")\nreturn x', "it shows the exception"),
        ('logger.info("a", exc_info=True)\nreturn x', "exc_info may ask"),
        ('warnings.warn("a", stacklevel=2)\nreturn x', "stacklevel may ask"),
        ('warnings.warn("a", UserWarning, 2)\nreturn x', "the warning names the place"),
        ('warnings.warn_explicit("a", UserWarning, "f", 1)\nreturn x', "the warning names the place"),
        ('with contextlib.suppress(ValueError):\n    logger.info("a")\nreturn x', "may decide what is said"),
        ('try:\n    warnings.warn("a")\nexcept UserWarning:\n    x = x + 1\nreturn x', "could not catch it"),
        ('if x.sum() > 0:\n    x = x + 1\n    logger.info("a")\nreturn x', "it runs for one value of"),
        ('if logger.isEnabledFor(10):\n    logger.info("a")\nreturn x', "asks a logger"),
        ('logger.info("a")\nyield x', "the function runs in steps"),
    ],
)
def test_message_stays(body: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = []
    original = _graph_reports.RefusedError

    class Noted(original):  # type: ignore[misc, valid-type]
        def __init__(self, claim: str, why: str, line: int, advice: str) -> None:
            refused.append(why)
            super().__init__(claim, why, line, advice)

    monkeypatch.setattr(_graph_reports, "RefusedError", Noted)
    after = fix_text(program(body), findings, unsafe=True).after
    assert "_in_graph" not in after
    assert any(reason in why for why in refused), refused


@pytest.mark.parametrize(
    ("body", "said", "shown"),
    [
        ('n = x.shape[0]\nlogger.info("%d of %d", n, n + 1)', 'logger.info("%d of %d", n, n + 1)', "n"),
        (
            'n = x.shape[0]\nm = x.size(1)\nlogger.warning_once(f"{n} {m:3}")',
            'logger.warning_once(f"{n} {m:3}")',
            "n, m",
        ),
        ('n = len(writer)\nwarnings.warn(f"{n} of {TEXT}")', 'warnings.warn(f"{n} of {TEXT}")', "n"),
    ],
)
def test_graph_says_integers(body: str, said: str, shown: str) -> None:
    after = fix_text(program(f"{body}\nx = x + 1\nreturn x + n"), findings, unsafe=True).after
    parameters = ", ".join(f"{name}: int" for name in shown.split(", "))
    assert f"@_in_graph\ndef _report_helper({parameters}) -> None:\n    {said}\n" in after
    assert f"    _report_helper({shown})\n    x = x + 1\n" in after


def test_names_in_use_stay() -> None:
    text = program('logger.info("a")\nlogger.info("b")\nreturn x').replace('TEXT = "text"', "_in_graph = TEXT = 1")
    after = fix_text(text, findings, unsafe=True).after
    assert "def _in_graph_2(say):" in after
    assert "@_in_graph_2\ndef _report_helper() -> None:" in after
    assert "@_in_graph_2\ndef _report_helper_2() -> None:" in after
    assert fix_text(after, findings, unsafe=True).after == after


def test_torch_has_another_name_or_none() -> None:
    text = program('logger.warning_once("a")\nreturn x')
    after = fix_text(text.replace("import torch", "import torch as th").replace("torch.", "th."), findings).after
    assert maker_source("_in_graph", "th") in after
    later = text.replace("import torch\n\n", "").replace("@torch.compile", "import torch\n\n\n@torch.compile")
    assert fix_text(later, findings, unsafe=True).after == later


def test_caller_and_checkpoint_are_asked() -> None:
    once = "def note(text):\n    logger.warning(text{})\n\n\nlogging.Logger.warning_once = note\n"
    text = program('logger.warning_once("a")\nwarnings.warn("a")\nreturn x')
    for addition, expected in (("", Discharge.PROVED), (", stacklevel=2", Discharge.ASSUMED)):
        found, warned = findings(text + once.format(addition))
        assert claims(found)["nobody reads the name of the function that says a message"] is expected
        assert claims(found)["no checkpoint runs it a second time"] is Discharge.PROVED
        assert claims(warned)["no checkpoint runs it a second time"] is Discharge.PROVED
    text = text.replace("helper(x.sin(), n, writer)", "writer._checkpoint_func(helper, x, n, helper(x, n, writer))")
    found, warned = findings(text)
    assert claims(found)["no checkpoint runs it a second time"] is Discharge.PROVED
    assert claims(warned)["no checkpoint runs it a second time"] is Discharge.ASSUMED


def test_filters_that_compiled_code_sets_are_noted() -> None:
    text = program('warnings.warn("a")\nreturn x')
    (found,) = findings(text)
    assert claims(found)["the same filters decide about the warning"] is Discharge.ASSUMED
    quiet = "    with warnings.catch_warnings():\n        return helper"
    (found,) = (one for one in findings(text.replace("    return helper", quiet)) if one.function == "helper")
    assert claims(found)["the same filters decide about the warning"] is Discharge.ASSUMED


@pytest.mark.parametrize(("name", "value"), [("kind", "'a'"), ("kind", "None")])
def test_graph_says_what_was_a_text_in_a_run(tmp_path: Path, name: str, value: str) -> None:
    project = Project(tmp_path)
    assert project.git("init", "--quiet").code == 0
    body = f"{name} = getattr(writer, '{name}', None)\nlogger.warning(f\"{{{name}}} in use\")\nreturn x + 1"
    text = program(body) + (
        f"\n\nclass Writer:\n    kind = {value}\n\n\n"
        "for size in (2, 3):\n    print(f(torch.ones(size), size, Writer()))\n"
    )
    project.write("program.py", text)
    before = project.gbfix("trace", "--", "program.py")
    assert project.gbfix("apply", "--select", "GBF310", "--unsafe", "program.py").code in (0, 1)
    annotation = "str | None" if value == "None" else "str"
    after = (tmp_path / "program.py").read_text()
    assert f"def _report_helper({name}: {annotation}) -> None:\n    logger.warning(" in after, after
    again = project.gbfix("trace", "--", "program.py")
    said = f"{value.strip(chr(39))} in use"
    assert (before.err.count(said), again.err.count(said)) == (2, 2)
    evidence = load_evidence(tmp_path / ".gbfix" / "evidence.json")
    assert evidence.breaks == ()
