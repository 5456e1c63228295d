from __future__ import annotations

from cli_project import SAFE, Project


def test_undo_takes_the_last_apply_back(project: Project) -> None:
    project.write("package/choose.py", SAFE)
    project.write("other.py", SAFE)
    project.commit()
    project.gbfix("apply")
    done = project.gbfix("undo", folder="package")
    assert done.code == 0
    assert sorted(done.out.splitlines()) == sorted(
        ["restored choose.py", f"restored {(project.root / 'other.py').resolve()}"]
    )
    assert project.git("status", "--porcelain").out == ""


def test_undo_refuses_a_file_that_was_changed_since(project: Project) -> None:
    project.write("choose.py", SAFE)
    project.gbfix("apply")
    changed = project.read("choose.py") + "\n"
    project.write("choose.py", changed)
    done = project.gbfix("undo")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert "choose.py: changed since gbfix wrote it" in done.err
    assert project.read("choose.py") == changed


def test_nothing_to_undo(project: Project) -> None:
    done = project.gbfix("undo")
    assert done.code == 2
    assert "nothing to undo" in done.err
    assert len(done.err.splitlines()) == 1
