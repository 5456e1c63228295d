from __future__ import annotations

from pathlib import Path

import pytest
from cli_project import Project

from gbfix.evidence.store import load_evidence

HEAD = """import torch


class Net(torch.nn.Module):
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


net = torch.compile(Net().{mode}(), backend="eager")
for size in (2, 3, 4):
    try:
        net(torch.rand(size, 3), {{"a": 1}})
    except ValueError:
        pass
"""
PLAIN = "self.check(y)"


def traced(project: Project, body: str, mode: str = "train") -> tuple[str, ...] | None:
    """What a run of a program says that its compiled function changes."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    project.write("net.py", HEAD + lines + TAIL.format(mode=mode))
    assert project.gbfix("trace", "--", "net.py").code == 0
    changes = load_evidence(project.root / ".gbfix" / "evidence.json").changes
    return None if changes is None else tuple(change.change for change in changes)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    assert found.git("init", "--quiet").code == 0
    return found


@pytest.mark.parametrize(
    ("body", "mode", "expected"),
    [
        (f"self.seen += 1\n{PLAIN}", "train", "Net.seen is set"),
        (f"self.kept.append(1)\n{PLAIN}", "train", "a ListVariable is changed"),
        (f"given['b'] = 2\n{PLAIN}", "train", "a ConstDictVariable is changed"),
        (f"self.total.add_(1)\n{PLAIN}", "train", "an input of the graph is written"),
        (f"self.total = self.total + 1\n{PLAIN}", "train", ""),
        (f"y = self.norm(y)\n{PLAIN}", "train", "running statistics are updated"),
        (f"before = self.seen\nself.seen = 7\n{PLAIN}\nself.seen = before", "train", "Net.seen is set"),
        (f"with torch.no_grad():\n    {PLAIN}", "train", ""),
        (f"try:\n    {PLAIN}\nexcept ValueError:\n    y = y + 1", "train", ""),
    ],
)
def test_what_outlives_the_function_leaves_the_fix_unsafe(
    project: Project, body: str, mode: str, expected: str
) -> None:
    changes = traced(project, body, mode)
    assert changes is not None
    assert any(expected in change for change in changes) or not expected
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run")
    assert "torch.library" not in applied.out, applied.out
    offered = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run", "--unsafe")
    assert "torch.library" in offered.out, offered.out


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
    project.write("net.py", HEAD + f"        {PLAIN}\n" + TAIL.format(mode="train") + "import os\nos._exit(0)\n")
    project.gbfix("trace", "--", "net.py")
    assert load_evidence(project.root / ".gbfix" / "evidence.json").changes is None


def test_what_is_put_back_before_the_check_is_no_change(project: Project) -> None:
    body = f"before = self.seen\ntry:\n    self.seen = 7\n    y = y * self.seen\nfinally:\n    self.seen = 0\n{PLAIN}"
    assert traced(project, body) == ()
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run")
    assert "torch.library" in applied.out, applied.out


@pytest.mark.parametrize(
    ("body", "safe"),
    [
        (f"{PLAIN}\nself.seen += 1", True),
        (f"{PLAIN}\nself.seen += 1\nprint(self.seen)\ny = self.norm(y)", True),
        (f"self.seen += 1\n{PLAIN}", False),
        (f"self.seen += 1\nprint(self.seen)\n{PLAIN}", False),
        (f"print('begin')\n{PLAIN}\nself.seen += 1", False),
        (f"{PLAIN}\nself.seen += 1\n{PLAIN}", False),
        (f"{PLAIN}\nself.seen += 1\nprint(self.seen)\n{PLAIN}", False),
        (f"for _ in range(2):\n    {PLAIN}\n    self.seen += 1", False),
        (f"for _ in range(2):\n    print(1)\n    {PLAIN}\n    self.seen += 1", False),
        ("list(map(lambda _: self.check(y) or self.kept.append(1), range(2)))", False),
    ],
)
def test_only_what_happens_in_front_of_a_check_counts(project: Project, body: str, safe: bool) -> None:
    assert traced(project, body) is not None
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run")
    assert ("torch.library" in applied.out) == safe, applied.out


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
    head = HEAD + f"        {PLAIN}\n        self.seen += 1" + TAIL.format(mode="train").partition("\n\n\nnet")[0]
    project.write("net.py", head + OUTER.format(body=body))
    assert project.gbfix("trace", "--", "net.py").code == 0
    applied = project.gbfix("apply", "--select", "GBF109", "net.py", "--dry-run")
    assert ("torch.library" in applied.out) == safe, applied.out


OPTIONS = """import torch


@torch.compile(backend="eager")
def step(x, given, **options):
    options.pop("scale")
    options["more"] = 2
    {more}
    return x * options["more"]


for size in (2, 3):
    step(torch.rand(size), {{"kept": []}}, scale=2, kept=[])
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("pass", ()),
        ("given['a'] = 1", ("a ConstDictVariable is changed",)),
        ("options['kept'].append(1)", ("a ListVariable is changed",)),
        ("given['kept'] = options", ("a ConstDictVariable is changed",)),
    ],
)
def test_the_options_that_a_call_made_are_nobodys_else(project: Project, more: str, expected: tuple[str, ...]) -> None:
    project.write("net.py", OPTIONS.format(more=more))
    assert project.gbfix("trace", "--", "net.py").code == 0
    changes = load_evidence(project.root / ".gbfix" / "evidence.json").changes
    assert changes is not None
    assert tuple(change.change for change in changes) == expected
