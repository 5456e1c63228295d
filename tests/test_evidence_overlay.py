from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from overlaid import Overlaid

from gbfix.engine.atomic import Rewrite
from gbfix.engine.model import GbfixError, WriteError
from gbfix.evidence.overlay import (
    MANIFEST,
    check_overlay,
    no_overlay_reason,
    overlay_folder,
    read_overlay,
    write_overlay,
)


@pytest.fixture
def project(tmp_path: Path) -> Overlaid:
    return Overlaid(Path(os.path.realpath(tmp_path)))


def copies(project: Overlaid) -> set[str]:
    folder = overlay_folder(project.root)
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}


def test_copies_lie_under_the_names_they_are_imported_by(project: Overlaid) -> None:
    names = [
        "venv/lib/python3.11/site-packages/lib/models/net.py",
        "venv/lib/python3.11/site-packages/single.py",
        "src/mine/model.py",
        "train.py",
    ]
    for name in names:
        project.write(name, "value = 'original'\n")
    project.overlay(*names)
    assert copies(project) == {"lib/models/net.py", "single.py", "src/mine/model.py", "train.py"}
    assert "copy" in (overlay_folder(project.root) / "lib/models/net.py").read_text()


def test_a_package_outside_of_the_project_is_named_from_its_top(project: Overlaid, tmp_path: Path) -> None:
    for name in ("elsewhere/pack/__init__.py", "elsewhere/pack/sub/__init__.py", "elsewhere/pack/sub/m.py"):
        project.write(name, "value = 'original'\n")
    root = tmp_path / "project"
    root.mkdir()
    original = Path(os.path.realpath(tmp_path / "elsewhere/pack/sub/m.py"))
    change = write_overlay(root, [Rewrite(original, original.read_bytes(), b"value = 'copy'\n")])
    assert change.copies == {original: overlay_folder(root) / "pack/sub/m.py"}


def test_two_files_of_one_name_get_a_copy_each(project: Overlaid) -> None:
    project.write("one/site-packages/m.py", "first = 'original'\n")
    project.write("two/site-packages/M.py", "second = 'original'\n")
    made = project.overlay("one/site-packages/m.py", "two/site-packages/M.py")
    assert len({str(path).casefold() for path in made}) == 2
    assert [path.name for path in made] == ["m.py", "M.py"]
    assert "first" in made[0].read_text()
    assert "second" in made[1].read_text()
    assert len(check_overlay(overlay_folder(project.root))) == 2


def test_the_manifest_is_sorted_and_says_what_it_must(project: Overlaid) -> None:
    project.write("b.py", "b = 'original'\n")
    project.write("a.py", "a = 'original'\n")
    project.overlay("b.py")
    project.overlay("a.py")
    document = json.loads((overlay_folder(project.root) / MANIFEST).read_text())
    assert document["version"] == 1
    assert [file["original"] for file in document["files"]] == [str(project.root / "a.py"), str(project.root / "b.py")]
    assert set(document["files"][0]) == {"original", "original_digest", "copy", "copy_digest"}


def test_a_copy_replaces_the_earlier_one_and_one_without_a_fix_goes(project: Overlaid) -> None:
    for name in ("pack/a.py", "b.py"):
        project.write(name, "value = 'original'\n")
    project.overlay("pack/a.py", "b.py")
    (again,) = project.overlay("b.py", change=lambda before: before.upper())
    assert again.read_text() == "VALUE = 'ORIGINAL'\n"
    assert len(check_overlay(overlay_folder(project.root))) == 2
    change = write_overlay(project.root, [], without=[project.root / "pack/a.py", project.root / "never.py"])
    assert change.removed == (project.root / "pack/a.py",)
    assert copies(project) == {"b.py"}
    assert not (overlay_folder(project.root) / "pack").exists()
    write_overlay(project.root, [], without=[project.root / "b.py"])
    with pytest.raises(GbfixError, match="there is no overlay here; `gbfix apply --overlay PATH` makes one"):
        read_overlay(overlay_folder(project.root))


def test_removing_the_folder_is_enough(project: Overlaid) -> None:
    import shutil

    project.write("a.py", "value = 'original'\n")
    project.overlay("a.py")
    shutil.rmtree(overlay_folder(project.root))
    with pytest.raises(GbfixError, match="there is no overlay here"):
        check_overlay(overlay_folder(project.root))
    project.overlay("a.py")
    assert len(check_overlay(overlay_folder(project.root))) == 1


def test_changed_files_are_named_with_what_to_do(project: Overlaid) -> None:
    names = ["fine.py", "changed file.py", "gone.py", "edited.py", "lost.py"]
    for name in names:
        project.write(name, "value = 'original'\n")
    made = dict(zip(names, project.overlay(*names), strict=True))
    project.write("changed file.py", "value = 'newer'\n")
    (project.root / "gone.py").unlink()
    made["edited.py"].write_text("value = 'mine'\n")
    made["lost.py"].unlink()
    with pytest.raises(GbfixError) as caught:
        check_overlay(overlay_folder(project.root))
    root = project.root
    assert str(caught.value).splitlines() == [
        f"{root}/changed file.py: changed since its copy in the overlay was made; "
        f"run `gbfix apply --overlay '{root}/changed file.py'` again",
        f"{made['edited.py']}: this copy of {root}/edited.py was edited; "
        f"run `gbfix apply --overlay {root}/edited.py` again",
        f"{root}/gone.py: is gone, and its copy in the overlay cannot be used; remove {overlay_folder(root)}",
        f"{made['lost.py']}: this copy of {root}/lost.py is gone; run `gbfix apply --overlay {root}/lost.py` again",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no list of an overlay's files"),
        ('{"version": 1, "files": [{"original": 3}]}', "is no list of an overlay's files"),
        ('{"version": 2, "files": []}', "another version of gbfix"),
        (
            '{"version": 1, "files": [{"original": "/a.py", "original_digest": "", "copy": "../../a.py",'
            ' "copy_digest": ""}]}',
            "names a copy outside of the overlay",
        ),
    ],
)
def test_a_foreign_manifest_is_refused(project: Overlaid, text: str, problem: str) -> None:
    path = project.write(f".gbfix/overlay/{MANIFEST}", text)
    for action in (lambda: check_overlay(path.parent), lambda: write_overlay(project.root, [], without=[path])):
        with pytest.raises(GbfixError, match=problem) as caught:
            action()
        assert str(path) in str(caught.value)


def test_a_link_in_place_of_the_overlay_is_refused(project: Overlaid) -> None:
    original = project.write("a.py", "value = 'original'\n")
    (project.root / "elsewhere").mkdir()
    project.write(".gbfix/x", "")
    overlay_folder(project.root).symlink_to(project.root / "elsewhere")
    with pytest.raises(WriteError, match="symbolic link"):
        write_overlay(project.root, [Rewrite(original, b"", b"")])
    assert list((project.root / "elsewhere").iterdir()) == []


def test_files_that_dynamo_knows_by_their_path_cannot_be_overlaid(project: Overlaid) -> None:
    import importlib.util

    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    for path in (Path(spec.origin), Path(spec.origin).parent / "nn" / "functional.py"):
        assert "belongs to PyTorch" in (no_overlay_reason(path) or "")
    assert "belongs to Python itself" in (no_overlay_reason(Path(json.__file__)) or "")
    assert no_overlay_reason(Path(pytest.__file__)) is None
    project.write("a.py", "value = 'original'\n")
    (copy,) = project.overlay("a.py")
    assert "is a copy in an overlay" in (no_overlay_reason(copy) or "")
    assert no_overlay_reason(project.root / "a.py") is None


def test_a_path_that_is_not_text_cannot_be_overlaid(project: Overlaid) -> None:
    assert "is not text" in (no_overlay_reason(project.root / os.fsdecode(b"\xff.py")) or "")
