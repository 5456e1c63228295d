from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from cli_project import Project

from gbfix.analysis.observations import Observation
from gbfix.analysis.observed import by_line
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.late_reading import RULE
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text
from gbfix.evidence.store import load_evidence

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, marks: torch.Tensor, n=None):\n"


def program(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def findings(text: str, *, broke: bool = True) -> list[Finding]:
    """With a run that broke at every reading of the text, or at none."""
    reads = [n for n, line in enumerate(text.split("\n"), 1) if ".item()" in line or "torch.where(" in line]
    seen = [Observation("f.py", n, name, how=how) for n in reads for name in ["f"] for how in ("traced", "resumed")]
    observed = {"f.py": by_line(seen)} if broke else {}
    return list(RULE.find(load([parse("f.py", text)], observed=observed).view("f.py")))


@pytest.mark.parametrize(
    "body",
    [
        "count = (marks > 0).sum().item()\ny = x.sin()\nreturn y[:count]",  # nothing in front of it
        "y = x.sin()\ncount = y.sum().item()\nreturn y[:count]",  # what is in front is needed
        "y = x.sin()\ncount = torch.relu(x).sum().item()\nreturn y[:count]",
        "y = x.sin()\nfor _ in range(2):\n    count = marks.sum().item()\nreturn y[:count]",
        "y = x.sin()\nwith torch.no_grad():\n    count = marks.sum().item()\nreturn y[:count]",
        "y = x.sin()\nif n:\n    return y\ncount = marks.sum().item()\nreturn y[:count]",
        "y = x.sin()\nmarks = marks * 2\nmarks = marks + 1\ncount = marks.sum().item()\nreturn y[:count]",
        "y = x.sin()\nif y.sum() > 0:\n    count = marks.sum().item()\n    y = y[:count]\nreturn y",
        "y = x.sin()\nn = n or 1\nif n:\n    count = marks.sum().item()\n    y = y[:count]\nreturn y",
        "y = x.sin()\ncount = marks.add_(1).sum().item()\nreturn y[:count]",
        "y = x.sin()\ncount = [one.item() for one in marks]\nreturn y[: count[0]]",
    ],
)
def test_it_stays(body: str) -> None:
    assert findings(program(body)) == []


def test_what_stands_in_front_is_asked() -> None:
    (finding,) = findings(program("low = marks < 0\ncount = marks.sum().item()\nreturn x[:count] + low"))
    assert {o.claim: o.discharge for o in finding.obligations} == {
        "the value can be computed from the parameters alone": Discharge.PROVED,
        "nothing before it changes what is read": Discharge.PROVED,
        "the statements before it cannot fail": Discharge.ASSUMED,
        "no caller compiles with fullgraph=True": Discharge.OBSERVED,
    }
    (finding,) = findings(program("n.change(marks)\ny = x.sin()\ncount = marks.sum().item()\nreturn y[:count]"))
    assert "nothing before it changes what is read" in {
        o.claim for o in finding.obligations if o.discharge is Discharge.ASSUMED
    }


def test_only_where_a_run_broke_and_at_one_reading_alone() -> None:
    text = program("y = x.sin()\ncount = marks.sum().item()\nreturn y[:count]")
    (finding,) = findings(text)
    assert finding.safety is Safety.UNSAFE
    assert {o.claim for o in finding.obligations if o.discharge is Discharge.OBSERVED} == {
        "no caller compiles with fullgraph=True"
    }
    assert findings(text, broke=False) == []
    more = "y = x.sin()\ncount = marks.sum().item()\nother = marks.max().item()\nreturn y[:count] + y[:other]"
    assert findings(program(more)) == []


def test_it_is_found_once_and_keeps_names_and_comments() -> None:
    text = program("y = x.sin()\ncount_first = 1\n# how many\ncount = marks.sum().item()  # a number\nreturn y[:count]")
    after = fix_text(text, findings, unsafe=True).after
    assert "    count_first_2 = _read_count(marks)\n    y = x.sin()\n    count_first = 1\n" in after
    assert "    # how many\n    count = count_first_2  # a number\n" in after
    assert fix_text(after, findings, unsafe=True).after == after


CALLS = {
    "start": "for marks in ([0, -1, 0], [1, 0, -1], [2, 2, 2]):\n"
    "    print(f(torch.arange(12.0).reshape(3, 4), torch.tensor(marks)))\n",
    "condition": "for marks in ([0, 1, 0], [0, 0, 0], [1, 1, 1]):\n"
    "    print(f(torch.arange(12.0).reshape(3, 4), torch.tensor(marks)))\n",
}


@pytest.mark.parametrize("name", list(CALLS))
def test_a_program_says_the_same_with_fewer_graphs(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path)
    assert project.git("init", "--quiet").code == 0
    text = (Path(__file__).parent / "late_reading" / f"{name}.txt").read_text()
    project.write("program.py", f"{text}\n\n{CALLS[name]}")
    before, graphs = traced(project)
    assert project.gbfix("apply", "--select", "GBF207", "--unsafe", "program.py").code in (0, 1)
    assert (
        '@torch.compiler.disable(reason="reads values of tensors")\ndef _read_' in (tmp_path / "program.py").read_text()
    )
    after, fewer = traced(project)
    assert after == before
    assert fewer < graphs


def traced(project: Project) -> tuple[str, int]:
    """What the program prints, and how many graphs it has."""
    done = project.gbfix("trace", "--", "program.py")
    evidence = load_evidence(project.root / ".gbfix" / "evidence.json")
    printed = [line for line in done.out.splitlines() if "tensor" in line or line.startswith(" ")]
    return "\n".join(line for line in printed if "[" in line), sum(entry.graphs for entry in evidence.entries)
