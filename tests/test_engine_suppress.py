from __future__ import annotations

import pytest

from gbfix.engine.model import Finding, SourceError, Span
from gbfix.engine.suppress import read_suppressions


def finding(line: int, code: str = "GBF101", name: str = "tensor-value-branch") -> Finding:
    return Finding(code, name, Span(line, 0, line, 5), "message", "f", "region")


def silenced_lines(text: str, code: str = "GBF101", name: str = "tensor-value-branch") -> list[int]:
    suppressions = read_suppressions(text)
    return [line for line in range(1, text.count("\n") + 2) if suppressions.silences(finding(line, code, name))]


@pytest.mark.parametrize(
    ("comment", "silenced"),
    [
        ("# gbfix: ignore", True),
        ("#gbfix:ignore", True),
        ("# gbfix: ignore[GBF101]", True),
        ("# gbfix: ignore[GBF1]", True),
        ("# gbfix: ignore[ALL]", True),
        ("# gbfix: ignore[GBF201, tensor-value-branch]", True),
        ("# gbfix: ignore[ GBF101 ] the copy is wanted, see #12", True),
        ("# noqa: E501  # gbfix: ignore[GBF101]  # type: ignore", True),
        ("# gbfix: ignore[GBF201]", False),
        ("# gbfix: ignore[mixed-branch]", False),
        ("# an ordinary comment about gbfix", False),
    ],
)
def test_forms_on_the_line(comment: str, silenced: bool) -> None:
    assert silenced_lines(f"a = 1\nif a:  {comment}\n    b = 1\n") == ([2] if silenced else [])


def test_comment_lines_directly_above_count_and_others_do_not() -> None:
    text = (
        "# gbfix: ignore\n# why\nif a:\n    b = 1\n    # gbfix: ignore\n    c = 1\n"
        "# gbfix: ignore\n\nd = 1\ne = 1\n# gbfix: ignore\n"
    )
    assert silenced_lines(text) == [3, 6]
    assert read_suppressions(text).unused([finding(3), finding(6), finding(9)]) == (7, 11)


def test_every_physical_line_of_the_first_line_counts() -> None:
    text = "x = f(\n    a,  # gbfix: ignore\n    b,\n)\ny = 1\nif (a and  # gbfix: ignore\n        b):\n    z = 1\n"
    assert silenced_lines(text) == [1, 2, 3, 4, 6, 7]


def test_a_comment_inside_an_open_statement_does_not_reach_the_next_one() -> None:
    assert silenced_lines("x = [\n    1,\n    # gbfix: ignore\n]\ny = 1\n") == [1, 2, 3, 4]


def test_a_trailing_comment_does_not_reach_the_next_line() -> None:
    assert silenced_lines("x = 1  # gbfix: ignore\ny = 1\n") == [1]


def test_elif_has_its_own_line() -> None:
    assert silenced_lines("if a:\n    b\n# gbfix: ignore\nelif c:  # gbfix: ignore[GBF1]\n    d\nelse:\n    e\n") == [4]


def test_strings_do_not_count() -> None:
    text = 's = "# gbfix: ignore"\nt = """\n# gbfix: ignore[\n"""\n'
    assert silenced_lines(text) == []
    assert read_suppressions(text).unused([]) == ()


def test_a_whole_file() -> None:
    text = "# gbfix: ignore-file[GBF101] generated\n\nx = 1\ny = 2\n"
    assert silenced_lines(text) == [1, 2, 3, 4, 5]
    assert silenced_lines(text, "GBF201", "item") == []
    assert read_suppressions(text).unused([finding(3, "GBF201")]) == (1,)


def test_unused_ones_are_listed_by_line() -> None:
    text = "x = 1  # gbfix: ignore[GBF201]\ny = 1  # gbfix: ignore\nz = 1  # gbfix: ignore[GBF999]\n"
    assert read_suppressions(text).unused([finding(1), finding(2), finding(3)]) == (1, 3)
    assert read_suppressions(text).unused([]) == (1, 2, 3)


@pytest.mark.parametrize(
    "comment",
    [
        "# gbfix: ignore[",
        "# gbfix: ignore[]",
        "# gbfix: ignore[GBF101,]",
        "# gbfix: ignore[gbf101]",
        "# gbfix: ignore[GBF101]x",
        "# gbfix: ignore because of this",
        "# gbfix: ignored",
        "# gbfix: disable[GBF101]",
        "# gbfix:",
    ],
)
def test_what_cannot_be_read_is_an_error_with_the_line(comment: str) -> None:
    with pytest.raises(SourceError, match=r"line 2: .*write `# gbfix: ignore\[GBF101\]`"):
        read_suppressions(f"x = 1\ny = 2  {comment}\n")


@pytest.mark.parametrize("text", ["x = (  # gbfix: ignore\n", "if x:\n        y\n    z  # gbfix: ignore\n"])
def test_text_that_is_not_python_is_an_error_with_a_line(text: str) -> None:
    with pytest.raises(SourceError, match=r"line \d+: not valid Python"):
        read_suppressions(text)


def test_line_ends_tabs_and_missing_final_newline() -> None:
    assert silenced_lines("if a:\r\n\tb = 1  # gbfix: ignore\r\n\x0c\r\n\t# gbfix: ignore\r\n\tc = 1") == [2, 5]
