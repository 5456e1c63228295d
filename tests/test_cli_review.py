from __future__ import annotations

import pytest
from cli_project import SAFE, UNSAFE, Project

SECOND = SAFE.removeprefix("import torch\n").replace("def f", "def g").replace("x.sum()", "x.mean()")
BOTH = SAFE + SECOND


@pytest.mark.parametrize(
    ("answers", "first", "second"),
    [
        ("y\ny\n", True, True),
        ("y\nn\n", True, False),
        ("n\ny\n", False, True),
        ("yes\nno\n", True, False),
        ("a\n", True, True),
        ("q\n", False, False),
        ("y\nq\n", True, False),
        ("y\n", True, False),
        ("", False, False),
        ("what\ny\nn\n", True, False),
        ("N\nALL\n", False, True),
    ],
)
def test_answers(project: Project, answers: str, first: bool, second: bool) -> None:
    project.write("both.py", BOTH)
    done = project.gbfix("apply", "--interactive", stdin=answers)
    text = project.read("both.py")
    assert ("if x.sum()" not in text, "if x.mean()" not in text) == (first, second)
    assert (text == BOTH) == (not first and not second)
    assert done.code == (0 if first and second else 1)


def test_the_hunk_and_the_obligations_are_in_view_before_the_question(project: Project) -> None:
    project.write("choose.py", SAFE)
    out = project.gbfix("apply", "--interactive", stdin="q\n").out
    before, _, after = out.partition("Apply this fix? [y]es, [n]o, [a]ll the rest, [q]uit (keeps those accepted): ")
    assert "choose.py:7:5  GBF101 tensor-value-branch   safe" in before
    assert "\n  proved " in before
    assert "+    z = torch.where(" in before
    assert after.splitlines()[-1] == "1 file, 1 compiled function: 1 safe fix not applied"
    assert "+    z" not in after


def test_a_fix_that_was_declined_is_asked_about_once(project: Project) -> None:
    project.write("both.py", BOTH)
    out = project.gbfix("apply", "--interactive", stdin="n\ny\ny\ny\n").out
    assert out.count("Apply this fix?") == 2


def test_with_dry_run_standard_output_is_the_patch_of_what_was_accepted(project: Project) -> None:
    project.write("both.py", BOTH)
    project.commit()
    done = project.gbfix("apply", "--interactive", "--dry-run", stdin="n\ny\n")
    assert "Apply this fix?" in done.err
    assert project.git("apply", stdin=done.out.encode()).code == 0
    assert "if x.sum()" in project.read("both.py")
    assert "if x.mean()" not in project.read("both.py")


def test_unsafe_fixes_are_asked_about_with_unsafe_only(project: Project) -> None:
    project.write("unsafe.py", UNSAFE)
    assert "Apply this fix?" not in project.gbfix("apply", "--interactive", stdin="y\n").out
    assert project.read("unsafe.py") == UNSAFE
    assert project.gbfix("apply", "--interactive", "--unsafe", stdin="y\n").code == 0
    assert project.read("unsafe.py") != UNSAFE


def test_what_was_not_asked_about_is_reported_at_the_end(project: Project) -> None:
    project.write("safe.py", SAFE)
    project.write("unsafe.py", UNSAFE)
    out = project.gbfix("apply", "--interactive", stdin="y\n").out
    assert out.count("safe.py:7:5  GBF101 tensor-value-branch   safe") == 1
    assert "unsafe (only a suggestion, not applied)" in out.rpartition("Apply this fix?")[2]
    assert "1 unsafe fix not applied (--unsafe applies them)" in out
    out = project.gbfix("apply", "--interactive", "--unsafe", "--allow-dirty", stdin="n\n").out
    assert out.endswith("1 unsafe fix not applied\n")


def test_the_program_and_the_answers_cannot_both_come_on_standard_input(project: Project) -> None:
    done = project.gbfix("apply", "--interactive", "-", stdin=SAFE)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: --interactive reads answers from standard input")


def test_the_question_fits_80_columns(project: Project) -> None:
    project.write("choose.py", SAFE)
    out = project.gbfix("apply", "--interactive", stdin="q\n").out
    assert all(len(line) <= 80 for line in out.splitlines() if line.startswith("Apply this fix?"))


def test_nobody_is_asked_about_a_file_that_could_not_be_written(project: Project) -> None:
    project.write("dirty.py", SAFE)
    project.write("tidy.py", SAFE)
    project.commit()
    project.write("dirty.py", BOTH)
    done = project.gbfix("apply", "--interactive", stdin="y\ny\n")
    assert done.code == 2
    assert done.out.count("Apply this fix?") == 1
    assert done.err.count("dirty.py: has uncommitted changes") == 1
    assert project.read("dirty.py") == BOTH
    assert project.read("tidy.py") != SAFE
