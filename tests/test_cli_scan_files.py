from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import CLEAN, SAFE, Project

from gbfix.analysis.source import check_syntax, parse
from gbfix.cli.survey import survey
from gbfix.engine.model import SourceError


def _many(project: Project) -> None:
    for number in range(205):
        project.write(f"plain_{number:03}.py", f"VALUE = {number}\n")
    project.write("choose.py", SAFE)
    project.write("broken.py", "def f(:\n")


def test_processes_and_the_kept_result_give_the_same_report(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _many(project)
    cache = tmp_path_factory.mktemp("cache")
    env = {"GBFIX_CACHE_DIR": str(cache)}
    alone = project.gbfix("scan", "--jobs", "1", "--no-cache", env=env)
    assert not list(cache.rglob("*.json"))
    shared = project.gbfix("scan", "--jobs", "2", env=env)
    (kept,) = cache.rglob("*.json")
    again = project.gbfix("scan", env=env)
    assert (alone.code, alone.out, alone.err) == (shared.code, shared.out, shared.err)
    assert (again.code, again.out, again.err) == (shared.code, shared.out, shared.err)
    assert "broken.py:1: not valid Python" in alone.err
    assert "206 files, 1 compiled function: 1 finding" in alone.out

    kept.write_text("{}")
    damaged = project.gbfix("scan", env=env)
    assert (damaged.code, damaged.out, damaged.err) == (shared.code, shared.out, shared.err)

    project.write("choose.py", CLEAN)
    changed = project.gbfix("scan", env=env)
    assert "nothing found" in changed.out


def test_every_file_is_told_in_its_turn(tmp_path: Path) -> None:
    files = []
    for number in range(210):
        path = tmp_path / f"m_{number:03}.py"
        path.write_text("x = (\n" if number == 7 else "x = 1\n")
        files.append((str(path), path.name))
    told: list[str] = []
    begun: list[int] = []
    problems = survey(files, 2, told.append, lambda: begun.append(len(told)))
    assert told == [name for _, name in files]
    assert begun == [0]
    assert [number for number, problem in enumerate(problems) if problem] == [7]
    assert problems[7] == "m_007.py:1: not valid Python: '(' was never closed"


@pytest.mark.parametrize(
    "text",
    ["def f(x):\n    global x\n", "nonlocal y\n", "return 1\n", "x = 1\n" * 3, "def f(:\n", "x = '\\d'\n", "é = 1\n"],
)
def test_checking_the_syntax_refuses_what_parsing_refuses(text: str) -> None:
    def told(work: Callable[[str, str], object]) -> str:
        try:
            work("m.py", text)
        except SourceError as error:
            return str(error)
        return ""

    assert told(check_syntax) == told(parse)
