from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from cli_project import SAFE, Project

from gbfix.cli.check_versions import Change, Version, applied, given, overlaid, text_with_digest, words
from gbfix.engine.model import ConfigurationError, Finding, GbfixError, SourceError, Span


def changed(changes: dict[Path, Change]) -> dict[str, tuple[str, str, str, str]]:
    return {
        file.name: (change.original.text, change.rewritten.text, change.original.origin, change.rewritten.origin)
        for file, change in changes.items()
    }


def test_words_for_a_report() -> None:
    finding = Finding("GBF101", "n", Span(1, 0, 1, 1), "m", "f", "r")
    pending = Change(Version("a"), Version("b", ""), (finding, finding))
    assert words({Path("a"): pending}) == "original: disk; rewritten: 2 pending fixes"
    assert words({Path("a"): Change(Version("a"), Version("b", ""), (finding,))}).endswith("rewritten: 1 pending fix")
    both = {
        Path("a"): Change(Version("a", "git HEAD"), Version("b")),
        Path("b"): Change(Version("a", "x"), Version("b")),
    }
    assert words(both) == "original: git HEAD, x; rewritten: disk"


def test_what_the_last_apply_wrote(project: Project) -> None:
    file = project.write("model.py", SAFE)
    project.commit()
    assert project.gbfix("apply", ".").code == 0
    after = project.read("model.py")
    found = changed(applied([file], project.root, {}))
    assert found == {"model.py": (SAFE, after, "before the last `gbfix apply`", "disk")}


def test_git_has_what_no_record_has(project: Project) -> None:
    file = project.write("model.py", "x = 1\n")
    same = project.write("same.py", "y = 1\n")
    new = project.write("new.py", "z = 1\n")
    project.git("add", "model.py", "same.py")
    assert project.git("commit", "--quiet", "--message", "x").code == 0
    file.write_text("x = 2\n")
    assert changed(applied([file, same, new], project.root, {})) == {
        "model.py": ("x = 1\n", "x = 2\n", "git HEAD", "disk")
    }


def test_edited_after_the_apply_counts_from_the_commit(project: Project) -> None:
    file = project.write("model.py", SAFE)
    project.commit()
    assert project.gbfix("apply", ".").code == 0
    file.write_text(project.read("model.py") + "# edited\n")
    assert changed(applied([file], project.root, {}))["model.py"][2] == "git HEAD"


def test_when_the_fix_is_committed_the_hash_of_the_run_finds_the_original(project: Project) -> None:
    file = project.write("model.py", "x = 1\n")
    project.commit()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    for text in ("x = 2\n", "x = 3\n"):
        file.write_text(text)
        project.commit()
    assert applied([file], project.root, {}) == {}
    assert applied([file], project.root, {file: hashlib.sha256(b"x = 3\n").hexdigest()}) == {}
    original, rewritten, origin, _ = changed(applied([file], project.root, {file: digest}))["model.py"]
    assert (original, rewritten) == ("x = 1\n", "x = 3\n")
    assert origin.startswith("as it was when the run was recorded (git ")


def test_the_text_with_a_digest_wherever_it_is(project: Project) -> None:
    file = project.write("model.py", SAFE)
    digest = hashlib.sha256(SAFE.encode()).hexdigest()
    assert text_with_digest(file, digest, project.root) == SAFE
    project.gbfix("apply")
    assert project.read("model.py") != SAFE
    assert text_with_digest(file, digest, project.root) == SAFE
    assert text_with_digest(file, "0" * 64, project.root) is None
    project.commit()
    committed = project.read("model.py")
    file.unlink()
    assert text_with_digest(file, hashlib.sha256(committed.encode()).hexdigest(), project.root) == committed


def test_outside_of_git_and_without_records_there_is_no_other_version(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("x = 1\n")
    assert applied([tmp_path / "model.py"], tmp_path, {}) == {}


def test_the_overlay(project: Project) -> None:
    project.write("model.py", SAFE)
    with pytest.raises(GbfixError, match="there is no overlay here"):
        overlaid(project.root)
    assert project.gbfix("apply", "--overlay", ".").code == 0
    original, rewritten, *origins = changed(overlaid(project.root))["model.py"]
    assert original == SAFE
    assert "torch.where" in rewritten
    assert origins == ["disk", "copy in the overlay"]


def test_a_file_stands_for_that_of_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "model.py"
    target.write_text("x = 2\n")
    (tmp_path / "old.py").write_text("x = 1\n")
    assert changed(given("old.py", None, target, tmp_path)) == {"model.py": ("x = 1\n", "x = 2\n", "old.py", "disk")}
    assert changed(given(None, "old.py", target, tmp_path)) == {"model.py": ("x = 2\n", "x = 1\n", "disk", "old.py")}
    assert given("model.py", None, target, tmp_path) == {}


def test_a_folder_stands_for_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, old = tmp_path / "project", tmp_path / "old"
    monkeypatch.chdir(tmp_path)
    for top, number in ((root, 2), (old, 1)):
        (top / "pkg").mkdir(parents=True)
        for name in ("pkg/model.py", "pkg/helper.py", "same.py"):
            (top / name).write_text("x = 0\n" if name == "same.py" else f"x = {number}\n")
    (old / "gone.py").write_text("")
    target = root / "pkg" / "model.py"
    texts = ("x = 1\n", "x = 2\n", "old", "disk")
    assert changed(given("old", None, target, root)) == {"model.py": texts, "helper.py": texts}
    inner = changed(given("old/pkg", None, target, root))
    assert inner == dict.fromkeys(("model.py", "helper.py"), (*texts[:2], "old/pkg", "disk"))
    with pytest.raises(ConfigurationError, match=r"--original old: has no m\.py in the place of project/pkg/m\.py"):
        given("old", None, root / "pkg" / "m.py", root)


def test_a_revision_of_git(project: Project) -> None:
    file = project.write("model.py", "x = 1\n")
    project.write("data.txt", "1")
    project.commit()
    file.write_text("x = 2\n")
    project.write("data.txt", "2")
    project.commit()
    file.write_text("x = 3\n")
    found = changed(given("HEAD~1", None, file, project.root))
    assert found == {"model.py": ("x = 1\n", "x = 3\n", "git HEAD~1", "disk")}
    with pytest.raises(ConfigurationError, match="--original nonsense: is no file, no folder, and no revision of git"):
        given("nonsense", None, file, project.root)
    with pytest.raises(ConfigurationError, match="--rewritten HEAD: there is no such file or folder"):
        given(None, "HEAD", file, project.root)


def test_an_original_that_is_no_text(project: Project) -> None:
    file = project.write("model.py", b"\xff\n")
    project.commit()
    file.write_text("x = 1\n")
    with pytest.raises(SourceError, match=r"model\.py:1: byte 0xff is not utf-8"):
        applied([file], project.root, {})


def test_git_is_asked_only_for_what_it_knows(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "model.py").write_text("x = 1\n")
    assert applied([tmp_path / "model.py"], tmp_path, {}) == {}
