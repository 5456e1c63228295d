"""Which lines are worth observing, and what is read there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gbfix.evidence.candidates import Candidate, add_candidate, candidate_lines

SOURCE = '''"""Module."""
import torch


def first(x, y):
    """Doc."""
    z = x + 1
    if (
        z.sum() > 0
        and self.a.b.c > 1
    ):
        w = cfg.limit + self.a.b.c.d
        print(w)
    elif y:
        w = 1
    while x < 1:
        x += 1
    a = x if y else z
    b = x and y
    c = not x
    d = 0 < x < 1
    e = [n for n in x if n]
    assert x, "text"
    f = x == 1
    for n in x or y:
        pass
    with torch.no_grad() if y else torch.enable_grad():
        pass
    match x:
        case 1:
            d = 2
    try:
        f = 3
        if f:
            pass
    except (ValueError if y else KeyError):
        d = x or y
    return f


class Thing:
    def method(self):
        self.x = 1
        for one in self.items:
            if one.ok:
                return self.deep
        last = later.name
        return last


g = lambda x: 1
'''


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "source.py"
    path.write_text(SOURCE)
    return str(path)


def line_of(text: str) -> int:
    assert SOURCE.count(text) == 1, text
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def candidate(file: str, text: str) -> Candidate:
    return candidate_lines(file)[line_of(text)]


DECISIONS = (
    "if (",
    "elif y",
    "while x < 1",
    "a = x if",
    "b = x and",
    "c = not",
    "d = 0 <",
    "e = [",
    "assert x",
    "for n in x or y",
    "with torch",
    "match x",
    "        if f:",
    "        d = x or y",
    "            if one.ok",
)


@pytest.mark.parametrize("text", DECISIONS)
def test_a_decision_is_a_candidate(file: str, text: str) -> None:
    assert candidate(file, text).line == line_of(text)


@pytest.mark.parametrize("text", ["w = 1", "x += 1", "f = x == 1", "d = 2", "return f", "import torch", "g = lambda"])
def test_another_statement_is_none(file: str, text: str) -> None:
    assert line_of(text) not in candidate_lines(file)


def test_the_first_statement_of_a_function_is_one(file: str) -> None:
    assert {"x", "y", "z", "w"} <= candidate(file, "z = x + 1").names
    assert candidate(file, "self.x = 1").line == line_of("self.x = 1")
    assert line_of('"""Doc."""') not in candidate_lines(file)


def test_all_lines_of_a_header_lead_to_the_first(file: str) -> None:
    assert candidate(file, "and self.a.b.c > 1") is candidate(file, "if (")
    assert candidate(file, "z.sum() > 0") is candidate(file, "if (")


def test_paths_are_those_of_the_whole_statement_up_to_three_attributes(file: str) -> None:
    assert set(candidate(file, "if (").paths) >= {"self.a", "self.a.b", "self.a.b.c", "cfg.limit", "z.sum"}
    assert "self.a.b.c.d" not in candidate(file, "if (").paths


def test_a_decision_that_leaves_the_function_reads_the_rest_of_it(file: str) -> None:
    found = candidate(file, "            if one.ok")
    assert {"self.deep", "later.name"} <= set(found.paths)
    assert "last" in found.names


def test_a_line_can_be_added(file: str) -> None:
    line = line_of("f = x == 1")
    added = add_candidate(file, line)
    assert added is not None
    assert candidate_lines(file)[line] is added
    assert added.names == {"f", "x"}
    assert add_candidate(file, line_of('"""Module."""') + 2) is None


@pytest.mark.parametrize(
    "content",
    [b"def f(:\n", b"\xff\xfe\x00", b"x = '\x00'\n", b"x = " + b"(" * 5000 + b")" * 5000, b"x" + b".a" * 20000],
)
def test_a_file_that_is_no_source_has_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.py"
    path.write_bytes(content)
    assert candidate_lines(str(path)) == {}


def test_a_file_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert candidate_lines(str(tmp_path / "missing.py")) == {}
    assert candidate_lines("<string>") == {}


def test_nothing_is_printed_and_later_warnings_are_those_of_the_program(tmp_path: Path) -> None:
    odd = tmp_path / "odd.py"
    odd.write_text("def f(x):\n    y = '\\d'\n    assert (x, 'text')\n    return 1 if x is 'a' else y\n")
    program = (
        "import sys, warnings\n"
        "from gbfix.evidence.candidates import candidate_lines\n"
        "before = list(warnings.filters)\n"
        "warn = lambda: warnings.warn('once')\n"
        "warn()\n"
        f"assert len(candidate_lines({str(odd)!r})) == 3\n"
        "warn()\n"
        "assert warnings.filters == before\n"
    )
    for options in ([], ["-W", "default"], ["-W", "error::SyntaxWarning"]):
        done = subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr.count("Warning")) == (0, "", 1), done.stderr
