"""Documents in `.gbfix/` may come with a repository: they are data, and lead nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli_project import SAFE, Project
from killing import gbfix

from gbfix.engine.atomic import Rewrite
from gbfix.engine.data_folder import locked
from gbfix.engine.model import GbfixError, WriteError
from gbfix.evidence.model import Evidence
from gbfix.evidence.overlay import check_overlay, write_overlay
from gbfix.evidence.store import load_evidence, save_evidence

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

NESTED = "[" * 100_000
PICKLE = b"cos\nsystem\n(S'touch pwned'\ntR."
JUNK = {
    "nested": NESTED.encode(),
    "nested in a field": b'{"version": 1, "root": "", "files": [], "x": ' + NESTED.encode(),
    "pickle": PICKLE,
    "number": b'{"version": 1' + b"0" * 5000 + b', "root": "", "files": []}',
    "cut off": b'{"version": 1, "ro',
    "types": b'{"version": 1, "root": 3, "files": {"a": [null]}, "entries": "x"}',
    "empty": b"",
    "text": b"\xff\xfe\x00\x00",
}
DOCUMENTS = {
    "evidence.json": [("trace", "--from", ".gbfix/evidence.json"), ("apply", "--evidence", ".gbfix/evidence.json")],
    "overlay/manifest.json": [("run", "--", "-c", "1"), ("apply", "--overlay", "a.py")],
    "undo/00000001/record.json": [("undo",)],
}
EVERY = [(name, words) for name, commands in DOCUMENTS.items() for words in commands]


def outside(project: Project) -> dict[str, bytes]:
    """Everything around the project's folder."""
    folder = project.root.parent
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(project.root))
    return {str(path): path.read_bytes() for path in files if path.parent.name != "output"}


@pytest.fixture
def project(project: Project) -> Project:
    project.write("a.py", SAFE)
    (project.root.parent / "outside.py").write_text(SAFE)
    return project


@pytest.mark.parametrize("kind", JUNK)
@pytest.mark.parametrize(("name", "words"), EVERY, ids=lambda value: value[0] if isinstance(value, tuple) else value)
def test_a_document_that_is_none(project: Project, name: str, words: tuple[str, ...], kind: str) -> None:
    path = project.write(f".gbfix/{name}", JUNK[kind])
    before = outside(project)
    done = gbfix(project.root, *words)
    assert done.code == 2
    assert done.err.startswith(f"error: {path.parent if 'undo' in name else ''}".rstrip()) or name in done.err
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) == 1
    assert outside(project) == before
    assert not (project.root / "pwned").exists()
    assert project.read("a.py") == SAFE


@pytest.mark.parametrize(("name", "words"), EVERY, ids=lambda value: value[0] if isinstance(value, tuple) else value)
def test_a_pipe_in_place_of_a_document_is_not_waited_for(project: Project, name: str, words: tuple[str, ...]) -> None:
    path = project.root / ".gbfix" / name
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    done = gbfix(project.root, *words)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert "not a regular file" in done.err or "is no file" in done.err


def test_a_pipe_in_place_of_the_usual_evidence_is_not_waited_for(project: Project) -> None:
    (project.root / ".gbfix").mkdir()
    os.mkfifo(project.root / ".gbfix" / "evidence.json")
    done = gbfix(project.root, "apply")
    assert done.code == 0
    assert "note: evidence is not used" in done.err


@pytest.mark.parametrize("name", [".gitignore", "lock", "undo", "overlay"])
@pytest.mark.parametrize("target", ["../../outside.py", "../../not_there", "../.."])
def test_a_link_in_the_data_folder_is_not_followed(project: Project, name: str, target: str) -> None:
    (project.root / ".gbfix").mkdir()
    (project.root / ".gbfix" / name).symlink_to(target)
    before = outside(project)
    for words in (("apply",), ("apply", "--overlay")):
        done = gbfix(project.root, *words)
        assert outside(project) == before
        if done.code:
            assert done.err.splitlines() == [f"error: {project.root}/.gbfix/{name}: is a symbolic link; remove it"]
    assert done.code == (0 if name == "undo" else 2)


def test_a_link_in_place_of_the_evidence_is_not_written_through(project: Project) -> None:
    (project.root / ".gbfix").mkdir()
    (project.root / ".gbfix" / "evidence.json").symlink_to("../../outside.py")
    before = outside(project)
    done = gbfix(project.root, "trace", "--", "-c", "1")
    assert done.code == 2
    assert done.err == f"error: {project.root}/.gbfix/evidence.json: is a symbolic link; remove it\n"
    assert outside(project) == before


def manifest(project: Project, **changes: object) -> Path:
    """A manifest with one file, changed in its fields."""
    original = str(project.root / "a.py")
    file = {"original": original, "original_digest": "x", "copy": "a.py", "copy_digest": "y", **changes}
    return project.write(".gbfix/overlay/manifest.json", json.dumps({"version": 1, "files": [file]}))


@pytest.mark.parametrize(
    "copy", ["../x.py", "/etc/x.py", "", ".", "a\0b", "manifest.json", "Manifest.JSON", "link/x.py"]
)
def test_a_copy_that_leads_out_is_refused(project: Project, copy: str) -> None:
    path = manifest(project, copy=copy)
    (path.parent / "link").symlink_to("../../..")
    before = outside(project)
    for words in (("apply", "--overlay", "a.py"), ("run", "--", "-c", "1")):
        done = gbfix(project.root, *words)
        assert done.code == 2
        assert done.err.startswith(f"error: {path}: names a copy outside of the overlay; remove {path.parent}")
        assert outside(project) == before


@pytest.mark.parametrize("original", ["a\0b", "", "relative.py", "n" * 5000, "/dev/null", "../outside.py"])
def test_an_original_that_is_none_is_named(project: Project, original: str) -> None:
    manifest(project, original=original)
    done = gbfix(project.root, "run", "--", "-c", "1")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert len(done.err.splitlines()) == 1


def test_nothing_is_written_or_removed_behind_a_link(project: Project) -> None:
    outer = project.root.parent / "package" / "a.py"
    outer.parent.mkdir()
    outer.write_text(SAFE)
    real = project.write("sub/package/a.py", SAFE)
    overlay = project.root / ".gbfix" / "overlay"
    (overlay / "sub").mkdir(parents=True)
    (overlay / "sub" / "package").symlink_to(outer.parent)
    rewrite = Rewrite(real, SAFE.encode(), b"changed")
    with pytest.raises(WriteError, match="is, or lies behind, a symbolic link; remove"):
        write_overlay(project.root, [rewrite])
    assert outer.read_text() == SAFE
    (overlay / "sub" / "package").unlink()
    assert write_overlay(project.root, [rewrite]).copies
    (overlay / "sub").rename(project.root.parent / "moved")
    (overlay / "sub").symlink_to(project.root.parent / "moved")
    for work in (lambda: write_overlay(project.root, [], without=[real]), lambda: check_overlay(overlay)):
        with pytest.raises(GbfixError, match="names a copy outside of the overlay"):
            work()
    assert (project.root.parent / "moved" / "package" / "a.py").exists()


def evidence_document(folder: Path) -> dict[str, Any]:
    path = folder / "example.json"
    save_evidence(Evidence(root=str(folder), mode="run"), path)
    document: dict[str, Any] = json.loads(path.read_bytes())
    path.unlink()
    return document


def edits(document: dict[str, Any]) -> Iterator[tuple[str, Callable[[dict[str, Any]], None]]]:
    values = [None, -1, 2**70, 1e308, "x" * 10, ["x"], [[]], {"a": 1}, [{"file": "../../x", "line": -(10**12)}], True]
    for key in document:
        for value in values:
            yield f"{key}={value!r:.30}", lambda edited, key=key, value=value: edited.update({key: value})  # type: ignore[misc]


def test_evidence_with_other_values_is_understood_or_refused(tmp_path: Path) -> None:
    document = evidence_document(tmp_path)
    refused = {}
    path = tmp_path / "edited.json"
    for name, edit in edits(document):
        edited = dict(document)
        edit(edited)
        path.write_text(json.dumps(edited))
        try:
            load_evidence(path)
        except GbfixError as error:
            refused[name] = str(error)
    assert len(refused) > len(document)
    assert {name for name, text in refused.items() if not text.startswith(f"{path}: ") or "\n" in text} == set()


def test_evidence_about_files_elsewhere_touches_none_of_them(project: Project) -> None:
    document = evidence_document(project.root)
    place = {"file": "../outside.py", "line": 10**9, "function": "f"}
    seen = {"file": "../outside.py", "line": -5, "function": "f"}
    for fields in (
        {"observations": [seen]},
        {"settled": [place]},
        {"in_python": [place], "hashes": {"../outside.py": ""}},
    ):
        project.write(".gbfix/evidence.json", json.dumps({**document, **fields}))
        msgspec.json.decode((project.root / ".gbfix" / "evidence.json").read_bytes(), type=Evidence)
        before = outside(project)
        for words in (("trace", "--from", ".gbfix/evidence.json"), ("apply", "--dry-run")):
            done = gbfix(project.root, *words)
            assert done.code in (0, 1), done.err
            assert "Traceback" not in done.err
        assert outside(project) == before


def test_the_lock_file_keeps_its_contents_when_it_is_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("keep")
    (tmp_path / ".gbfix").mkdir()
    (tmp_path / ".gbfix" / "lock").symlink_to(target)
    with pytest.raises(WriteError, match="is a symbolic link"), locked(tmp_path):
        pass
    assert target.read_text() == "keep"
