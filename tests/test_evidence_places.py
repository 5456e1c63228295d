from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.evidence.model import Place
from gbfix.evidence.places import Places
from gbfix.evidence.stack import Origin, StackFrame


def test_files_in_the_root_are_relative_to_it_and_others_stay(tmp_path: Path) -> None:
    places = Places(tmp_path)
    assert places.file(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert places.file("b.py", str(tmp_path / "a")) == "a/b.py"
    assert places.file("../c.py", str(tmp_path / "a")) == "c.py"
    assert places.file(f"{tmp_path}2/b.py") == f"{tmp_path}2/b.py"
    assert places.file("<string>", str(tmp_path)) == "<string>"
    assert places.file(r"C:\job\a.py", str(tmp_path)) == r"C:\job\a.py"


def test_a_root_that_is_a_link_and_one_that_is_linked_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    for root in (real, link):
        for folder in (real, link):
            assert Places(root).file(str(folder / "a.py")) == "a.py"


def test_a_place_knows_its_line_and_whose_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n    y = 2\n", encoding="utf-8")
    places = Places(tmp_path)
    place = places.place(StackFrame(str(tmp_path / "a.py"), 2, "f"))
    assert place == Place("a.py", 2, "f")
    assert places.source(place) == "y = 2"
    assert places.source(Place("a.py", 9, "f")) == places.source(Place("gone.py", 1, "f")) == ""
    assert places.path("a.py") == tmp_path / "a.py"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("a.py", Origin.PROJECT),
        (".venv/lib/python3.11/site-packages/timm/x.py", Origin.LIBRARY),
        ("<string>", Origin.GENERATED),
        ("/usr/lib/python3.11/copy.py", Origin.STANDARD_LIBRARY),
    ],
)
def test_whose_code_a_file_of_the_evidence_is(tmp_path: Path, file: str, expected: Origin) -> None:
    assert Places(tmp_path).origin(file) is expected
