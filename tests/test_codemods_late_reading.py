from __future__ import annotations

import textwrap

import pytest

from gbfix.analysis.observations import Observation
from gbfix.analysis.observed import by_line
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.late_reading import RULE
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, marks: torch.Tensor, n=None):\n"


def program(body: str) -> str:
    return HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def findings(text: str, seen: int = 0) -> list[Finding]:
    lines = [Observation("f.py", seen, "f"), Observation("f.py", seen, "f", how="resumed")]
    observed = {"f.py": by_line(lines)} if seen else {}
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
        "no caller compiles with fullgraph=True": Discharge.ASSUMED,
    }
    (finding,) = findings(program("n.change(marks)\ny = x.sin()\ncount = marks.sum().item()\nreturn y[:count]"))
    assert "nothing before it changes what is read" in {
        o.claim for o in finding.obligations if o.discharge is Discharge.ASSUMED
    }


def test_a_break_in_a_run_shows_that_nobody_wants_one_graph() -> None:
    called = program("return helper(x, marks)") + "\n\ndef helper(x: torch.Tensor, marks: torch.Tensor):\n"
    text = called + "    y = x.sin()\n    count = marks.sum().item()\n    return y[:count]\n"
    (finding,) = findings(text)
    assert "no caller compiles with fullgraph=True" in {
        o.claim for o in finding.obligations if o.discharge is Discharge.ASSUMED
    }
    (finding,) = findings(text, seen=11)
    assert finding.safety is Safety.UNSAFE
    assert {o.claim for o in finding.obligations if o.discharge is Discharge.OBSERVED} == {
        "no caller compiles with fullgraph=True"
    }


def test_it_is_found_once_and_keeps_names_and_comments() -> None:
    text = program("y = x.sin()\ncount_first = 1\n# how many\ncount = marks.sum().item()  # a number\nreturn y[:count]")
    after = fix_text(text, findings, unsafe=True).after
    assert "    count_first_2 = _read_count(marks)\n    y = x.sin()\n    count_first = 1\n" in after
    assert "    # how many\n    count = count_first_2  # a number\n" in after
    assert fix_text(after, findings, unsafe=True).after == after
