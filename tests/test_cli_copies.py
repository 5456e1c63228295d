from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_project import CLEAN, REFUSED, SAFE, UNSAFE, Project


def copies(project: Project) -> dict[str, str]:
    folder = project.root / ".gbfix" / "overlay"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")}


def test_the_copy_is_what_apply_would_write(project: Project) -> None:
    project.write("site-packages/lib/choose.py", SAFE)
    project.commit()
    done = project.gbfix("apply", "--overlay", "site-packages")
    assert done.code == 0
    assert project.read("site-packages/lib/choose.py") == SAFE
    assert project.git("status", "--porcelain").out == ""
    (written,) = copies(project).items()
    project.gbfix("apply", "site-packages")
    assert written == ("lib/choose.py", project.read("site-packages/lib/choose.py"))
    assert written[1] != SAFE


def test_the_report_says_where_the_copies_are_and_how_to_use_and_drop_them(project: Project) -> None:
    project.write("a.py", SAFE)
    project.write("b.py", CLEAN)
    done = project.gbfix("apply", "--overlay")
    assert done.out.splitlines()[-3:] == [
        "2 files, 2 compiled functions: 1 fix applied in 1 file",
        "copy: .gbfix/overlay/a.py",
        "the files themselves are untouched; `gbfix run -- CMD` runs a program with the copies in their place, "
        "and removing .gbfix/overlay drops them",
    ]
    assert "gbfix undo" not in done.out
    assert project.gbfix("undo").code == 2


@pytest.mark.parametrize("state", ["dirty", "read-only"])
def test_the_state_of_the_original_does_not_matter(project: Project, state: str) -> None:
    path = project.write("a.py", SAFE)
    project.commit()
    if state == "dirty":
        project.write("a.py", SAFE + "\n\nA = 1\n")
    else:
        path.chmod(0o444)
    before = path.read_bytes()
    assert project.gbfix("apply", "--overlay").code == 0
    assert "torch.where" in copies(project)["a.py"]
    assert path.read_bytes() == before
    assert project.gbfix("apply", "--overlay", "--interactive", stdin="y\n").code == 0


def test_unsafe_and_interactive_choose_as_ever(project: Project) -> None:
    project.write("unsafe.py", UNSAFE)
    project.write("refused.py", REFUSED)
    done = project.gbfix("apply", "--overlay")
    assert (done.code, copies(project)) == (1, {})
    assert project.gbfix("apply", "--overlay", "--unsafe", "--interactive", stdin="n\n").code == 1
    assert copies(project) == {}
    done = project.gbfix("apply", "--overlay", "--unsafe", "--interactive", stdin="y\n")
    assert list(copies(project)) == ["unsafe.py"]
    assert done.code == 1


def test_findings_stand_at_the_lines_of_the_file_itself(project: Project) -> None:
    project.write("both.py", SAFE + UNSAFE.removeprefix("import torch\n").replace("def f", "def g"))
    done = project.gbfix("apply", "--overlay")
    line = next(line for line in done.out.splitlines() if "unsafe (only" in line)
    assert line.startswith("both.py:17:5 ")


def test_a_file_without_a_fix_loses_its_copy(project: Project) -> None:
    project.write("a.py", SAFE)
    project.write("b.py", UNSAFE)
    project.gbfix("apply", "--overlay", "--unsafe")
    assert set(copies(project)) == {"a.py", "b.py"}
    done = project.gbfix("apply", "--overlay")
    assert set(copies(project)) == {"a.py"}
    assert "no copy any more: b.py (no fix for it was applied now)" in done.out
    project.write("a.py", CLEAN)
    assert "no copy any more: a.py" in project.gbfix("apply", "--overlay", "a.py").out
    assert copies(project) == {}


def test_every_byte_of_a_copy(project: Project) -> None:
    text = ("# -*- coding: latin-1 -*-\n" + SAFE.replace("def f", "# \xe9t\xe9\ndef f")).replace("\n", "\r\n")
    path = project.write("a.py", text.encode("latin-1"))
    project.gbfix("apply", "--overlay")
    project.gbfix("apply")
    assert (project.root / ".gbfix/overlay/a.py").read_bytes() == path.read_bytes()


def test_what_cannot_be_overlaid_is_an_error_and_others_are_done(project: Project) -> None:
    project.write("site-packages/torch/_dynamo/__init__.py", "")
    project.write("site-packages/torch/part.py", SAFE)
    project.write("mine.py", SAFE)
    done = project.gbfix("apply", "--overlay", "site-packages", "mine.py")
    assert done.code == 2
    assert "site-packages/torch/part.py: belongs to PyTorch" in done.err
    assert set(copies(project)) == {"mine.py"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dry-run"], "--overlay writes copies and --dry-run writes none"),
        (["--patch", "x.patch"], "--overlay writes copies and --patch writes none"),
        (["-"], '--overlay needs files, so "-"'),
    ],
)
def test_options_that_do_not_go_together(project: Project, arguments: list[str], message: str) -> None:
    project.write("a.py", SAFE)
    done = project.gbfix("apply", "--overlay", *arguments, stdin=SAFE)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert not (project.root / ".gbfix").exists()


def test_json(project: Project) -> None:
    project.write("a.py", SAFE)
    done = project.gbfix("apply", "--overlay", "--output-format", "json")
    document = json.loads(done.out)
    assert document["summary"]["applied"] == 1
    assert set(copies(project)) == {"a.py"}


def test_from_a_folder_inside_the_overlay_is_the_projects(project: Project) -> None:
    project.write("inner/a.py", SAFE)
    done = project.gbfix("apply", "--overlay", folder="inner")
    assert set(copies(project)) == {"inner/a.py"}
    assert f"copy: {Path(project.root, '.gbfix/overlay/inner/a.py')}" in done.out
