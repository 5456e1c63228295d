"""Names of files that nobody would choose: found, fixed, patched, restored, and shown without harm."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_project import SAFE, Project
from killing import gbfix

NAMES = [
    b"two words.py",
    b"new\nline.py",
    b"""both'"quotes.py""",
    b"-dash.py",
    b"--patch.py",
    b"latin-\xe9.py",
    "emoji 🙂.py".encode(),
    b"l" * 252 + b".py",
    "größe.py".encode(),
    b"back\\slash.py",
    b"esc\x1b[31m.py",
    b"cr\r.py",
    b"*.py",
    b":(literal)[a].py",
    "\u202eltr.py".encode(),
    b"%s{0}.py",
    b"folder \xe9\n/module.py",
]


@pytest.fixture
def project(project: Project) -> Project:
    for name in NAMES:
        project.write(os.fsdecode(name), SAFE)
    return project


def texts(project: Project) -> set[str]:
    return {project.read(os.fsdecode(name)) for name in NAMES}


def test_all_are_found_fixed_patched_and_restored(project: Project) -> None:
    project.commit()
    scanned = gbfix(project.root, "scan", "--output-format", "json")
    assert scanned.code == 1
    assert {os.fsencode(file["path"]) for file in json.loads(scanned.out)["files"]} == {*NAMES}
    printed = project.gbfix("apply", "--dry-run")
    assert gbfix(project.root, "apply", "--patch", "fixes.patch").code == 1
    assert printed.out.encode() == (project.root / "fixes.patch").read_bytes()
    done = project.gbfix("apply")
    assert (done.code, done.err) == (0, "")
    assert len(texts(project)) == 1
    assert texts(project) != {SAFE}
    assert project.git("apply", "-R", "--check", "fixes.patch").code == 0
    undone = project.gbfix("undo", env={"PYTHONIOENCODING": "utf-8:strict"})
    assert (undone.code, undone.err) == (0, "")
    assert texts(project) == {SAFE}
    assert project.git("apply", "fixes.patch").code == 0
    for report in (printed.err, done.out, undone.out):
        lines = report.split("\n")
        assert all(line.isprintable() for line in lines)
        assert len([line for line in lines if "new\\nline.py" in line]) == 1
    assert len(undone.out.splitlines()) == len(NAMES)


def test_named_one_by_one_behind_two_dashes(project: Project) -> None:
    for name in NAMES:
        path = os.fsdecode(name)
        done = gbfix(project.root, "apply", "--output-format", "json", "--", path)
        assert (done.code, done.err) == (0, "")
        assert json.loads(done.out)["files"][0]["path"] == path
    assert len(texts(project)) == 1


def test_problems_stand_on_one_line_each(project: Project) -> None:
    for name in NAMES:
        project.write(os.fsdecode(name), "def (:\n")
    done = gbfix(project.root, "scan")
    assert done.code == 2
    assert len(done.err.splitlines()) == len(NAMES)
    assert all(line.startswith("error: ") and line.isprintable() for line in done.err.splitlines())


def test_uncommitted_changes_are_seen_whatever_the_name(project: Project) -> None:
    for name in NAMES:
        project.write(os.fsdecode(name), "import torch\n")
    project.commit()
    for name in NAMES:
        project.write(os.fsdecode(name), SAFE)
    done = gbfix(project.root, "apply")
    assert done.code == 2
    assert done.err.count("has uncommitted changes") == len(NAMES)
    assert texts(project) == {SAFE}


def test_copies_are_named_on_one_line_each(project: Project) -> None:
    done = gbfix(project.root, "apply", "--overlay")
    assert done.code == 2
    assert done.err.count("has a path that is not text") == 2
    assert done.out.count("copy: ") == len(NAMES) - 2
    assert all(line.isprintable() for line in done.out.splitlines())
    manifest = json.loads((project.root / ".gbfix" / "overlay" / "manifest.json").read_bytes())
    originals = {os.fsencode(Path(file["original"]).relative_to(project.root)) for file in manifest["files"]}
    assert originals == {name for name in NAMES if b"\xe9" not in name}
