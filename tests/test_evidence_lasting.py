from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_project import Project

from gbfix.evidence.store import load_evidence

HEAD = """import torch


class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.seen = 0
        self.kept = []
        self.register_buffer("total", torch.zeros(3))

    def check(self, y):
        if y.isnan().any():
            raise ValueError("NaN")

    def forward(self, x, given):
        y = self.linear(x)
"""
TAIL = """
        return self.linear(y)


net = torch.compile({name}().{mode}(), backend="eager")
for size in (2, 3, 4):
    try:
        net(torch.rand(size, 3), {{"a": 1}})
    except ValueError:
        pass
"""
PLAIN = "self.check(y)"


def source(body: str, name: str = "Net", mode: str = "train") -> str:
    """A program whose module has this body."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return HEAD.format(name=name) + lines + TAIL.format(mode=mode, name=name)


def traced(project: Project, body: str, mode: str = "train") -> tuple[str, ...] | None:
    """What a run of a program says that its compiled function changes."""
    project.write("net.py", source(body, mode=mode))
    assert project.gbfix("trace", "--", "net.py").code == 0
    changes = load_evidence(project.root / ".gbfix" / "evidence.json").changes
    return None if changes is None else tuple(change.change for change in changes)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    assert found.git("init", "--quiet").code == 0
    return found


def together(project: Project, bodies: Sequence[str]) -> dict[str, str]:
    """The safety of the fix for the check of each body, all in one program, by the class that has it."""
    project.write("net.py", "".join(source(body, f"Net{at}") for at, body in enumerate(bodies)))
    assert project.gbfix("trace", "--", "net.py").code == 0
    options = ("--select", "GBF109", "--dry-run", "--unsafe", "--output-format", "json")
    applied = json.loads(project.gbfix("apply", *options, "net.py").out)
    assert "torch.library" in json.dumps(applied)
    found = [finding for file in applied["files"] for finding in (*file["applied"], *file["findings"])]
    return {finding["function"].partition(".")[0]: finding["safety"] for finding in found}


OUTLIVING = (
    (f"self.seen += 1\n{PLAIN}", "Net0.seen is set"),
    (f"self.kept.append(1)\n{PLAIN}", "a ListVariable is changed"),
    (f"given['b'] = 2\n{PLAIN}", "a ConstDictVariable is changed"),
    (f"self.total.add_(1)\n{PLAIN}", "an input of the graph is written"),
    (f"self.total = self.total + 1\n{PLAIN}", ""),
    (f"y = self.norm(y)\n{PLAIN}", "running statistics are updated"),
    (f"before = self.seen\nself.seen = 7\n{PLAIN}\nself.seen = before", "Net6.seen is set"),
    (f"with torch.no_grad():\n    {PLAIN}", ""),
    (f"try:\n    {PLAIN}\nexcept ValueError:\n    y = y + 1", ""),
)


def test_what_outlives_the_function_leaves_the_fix_unsafe(project: Project) -> None:
    found = together(project, [body for body, _ in OUTLIVING])
    assert found == {f"Net{at}": "unsafe" for at in range(len(OUTLIVING))}
    changes = load_evidence(project.root / ".gbfix" / "evidence.json").changes
    assert changes is not None
    told = [(change.place.function.partition(".")[0], change.change) for change in changes]
    for at, (_, expected) in enumerate(OUTLIVING):
        assert not expected or any(name == f"Net{at}" and expected in change for name, change in told), expected


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        (PLAIN, "train"),
        (f"y = self.norm(y)\n{PLAIN}", "eval"),
        (f"mine = [1]\nmine.append(2)\nother = dict(given)\nother['c'] = 3\ny.add_(1)\n{PLAIN}", "train"),
    ],
)
def test_what_ends_with_the_function_leaves_nothing_to_miss(project: Project, body: str, mode: str) -> None:
    assert traced(project, body, mode) == ()
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run", "--output-format", "json")
    assert "torch.library" in applied.out, applied.out + applied.err
    assert "changes what outlives it" in applied.out


def test_a_run_that_is_killed_shows_no_absence(project: Project) -> None:
    project.write("net.py", source(PLAIN) + "import os\nos._exit(0)\n")
    project.gbfix("trace", "--", "net.py")
    assert load_evidence(project.root / ".gbfix" / "evidence.json").changes is None


def test_what_is_put_back_before_the_check_is_no_change(project: Project) -> None:
    body = f"before = self.seen\ntry:\n    self.seen = 7\n    y = y * self.seen\nfinally:\n    self.seen = 0\n{PLAIN}"
    assert traced(project, body) == ()
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run")
    assert "torch.library" in applied.out, applied.out


IN_FRONT = (
    (f"{PLAIN}\nself.seen += 1", "safe"),
    (f"{PLAIN}\nself.seen += 1\nprint(self.seen)\ny = self.norm(y)", "safe"),
    (f"self.seen += 1\n{PLAIN}", "unsafe"),
    (f"self.seen += 1\nprint(self.seen)\n{PLAIN}", "unsafe"),
    (f"print('begin')\n{PLAIN}\nself.seen += 1", "unsafe"),
    (f"{PLAIN}\nself.seen += 1\n{PLAIN}", "unsafe"),
    (f"{PLAIN}\nself.seen += 1\nprint(self.seen)\n{PLAIN}", "unsafe"),
    (f"for _ in range(2):\n    {PLAIN}\n    self.seen += 1", "unsafe"),
    (f"for _ in range(2):\n    print(1)\n    {PLAIN}\n    self.seen += 1", "unsafe"),
    ("list(map(lambda _: self.check(y) or self.kept.append(1), range(2)))", "unsafe"),
)


def test_only_what_happens_in_front_of_a_check_counts(project: Project) -> None:
    found = together(project, [body for body, _ in IN_FRONT])
    assert found == {f"Net{at}": safety for at, (_, safety) in enumerate(IN_FRONT)}


OUTER = """

class Outer(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.seen = 0

    def forward(self, x, given):
        {body}


net = torch.compile(Outer(Net()), backend="eager")
for size in (2, 3, 4):
    net(torch.rand(size, 3), {{}})
"""


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        ("return self.net(x, given)", True),
        ("y = self.net(x, given)\n        self.seen += 1\n        return y", True),
        ("self.seen += 1\n        return self.net(x, given)", False),
        ("self.net(x, given)\n        self.seen += 1\n        return self.net(x, given)", False),
        ("for _ in range(2):\n            y = self.net(x, given)\n            self.seen += 1\n        return y", False),
    ],
)
def test_what_a_caller_does_in_front_of_a_check_counts(project: Project, body: str, safe: bool) -> None:
    head = source(f"{PLAIN}\nself.seen += 1").partition("\n\n\nnet")[0]
    project.write("net.py", head + OUTER.format(body=body))
    assert project.gbfix("trace", "--", "net.py").code == 0
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run")
    assert ("torch.library" in applied.out) == safe, applied.out


OPTIONS = """import torch
"""
OF_OPTIONS = """

@torch.compile(backend="eager")
def step{at}(x, given, **options):
    options.pop("scale")
    options["more"] = 2
    {more}
    return x * options["more"]


for size in (2, 3):
    step{at}(torch.rand(size), {{"kept": []}}, scale=2, kept=[])
"""
MORE = (
    ("pass", ()),
    ("given['a'] = 1", ("a ConstDictVariable is changed",)),
    ("options['kept'].append(1)", ("a ListVariable is changed",)),
    ("given['kept'] = options", ("a ConstDictVariable is changed",)),
)


def test_the_options_that_a_call_made_are_nobodys_else(project: Project) -> None:
    steps = (OF_OPTIONS.format(at=at, more=more) for at, (more, _) in enumerate(MORE))
    project.write("net.py", OPTIONS + "".join(steps))
    assert project.gbfix("trace", "--", "net.py").code == 0
    changes = load_evidence(project.root / ".gbfix" / "evidence.json").changes
    assert changes is not None
    for at, (_, expected) in enumerate(MORE):
        assert tuple(one.change for one in changes if one.place.function == f"step{at}") == expected
