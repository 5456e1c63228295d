from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.evidence.cut_off import ends_with_a_line


@pytest.mark.parametrize(
    ("data", "whole"), [(b"", True), (b"a\n", True), (b"\n", True), (b"a", False), (b"a\nb", False)]
)
def test_whether_the_last_line_is_whole(tmp_path: Path, data: bytes, whole: bool) -> None:
    (tmp_path / "file").write_bytes(data)
    assert ends_with_a_line(tmp_path / "file") is whole
