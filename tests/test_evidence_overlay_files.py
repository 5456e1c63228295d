from __future__ import annotations

import os
from pathlib import Path

import pytest
from overlaid import Overlaid

from gbfix.evidence.journal import Journal, read_journal
from gbfix.evidence.overlay import MANIFEST, overlay_folder
from gbfix.evidence.overlay_files import LoadedOverlay


@pytest.fixture
def project(tmp_path: Path) -> Overlaid:
    made = Overlaid(Path(os.path.realpath(tmp_path)))
    made.write("pack/m.py", "value = 'original'\n")
    made.overlay("pack/m.py")
    return made


def loaded(project: Overlaid, journal: Journal | None = None) -> LoadedOverlay:
    return LoadedOverlay(overlay_folder(project.root) / MANIFEST, journal)


def test_every_path_to_the_file_finds_its_copy(project: Overlaid, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay, file = loaded(project), project.root / "pack" / "m.py"
    (project.root / "linked").symlink_to("pack")
    (project.root / "single.py").symlink_to("pack/m.py")
    monkeypatch.chdir(project.root)
    copy = overlay.find(file)
    assert copy is not None
    assert copy.path == str(overlay_folder(project.root) / "pack" / "m.py")
    for path in (str(file), os.fsencode(file), "pack/m.py", "./pack/../pack/m.py", "linked/m.py", "single.py"):
        assert overlay.find(path) == copy, path


def test_another_spelling_of_the_case_counts_only_when_it_is_the_same_file(project: Overlaid) -> None:
    """Where the file system tells cases apart a hard link has to stand for the other spelling."""
    overlay = loaded(project)
    other = project.write("pack/M.py", "value = 'another'\n")
    if not os.path.samefile(other, project.root / "pack" / "m.py"):
        assert overlay.find(other) is None
        other.unlink()
        os.link(project.root / "pack" / "m.py", other)
    assert overlay.find(other) is not None


@pytest.mark.parametrize("path", ["", "missing/m.py", "nul\0.py", "<string>", b"\xff.py", "/", "m.py"])
def test_any_other_path_finds_nothing(project: Overlaid, path: str | bytes) -> None:
    assert loaded(project).find(path) is None


def test_only_what_was_read_counts_as_loaded(project: Overlaid, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "1.jsonl")
    overlay, file = loaded(project, journal), str(project.root / "pack" / "m.py")
    copy = overlay.find(file)
    assert copy is not None
    assert overlay.find_loaded(file) is None
    assert overlay.read(copy, "pack.m") == b"# rewritten\n\nvalue = 'copy'\n"
    assert overlay.find_loaded(file) == copy
    (note,) = read_journal(journal.path)
    assert note == {"kind": "overlay", "original": file, "replacement": copy.path}


def test_a_manifest_that_is_none(project: Overlaid) -> None:
    path = project.write("bad.json", "[]")
    with pytest.raises((KeyError, TypeError)):
        LoadedOverlay(path, None)
    with pytest.raises(OSError, match="missing"):
        LoadedOverlay(project.root / "missing.json", None)
