from __future__ import annotations

import libcst as cst

from gbfix.engine.comments import comment_lines, comments_in, not_repeated


def test_comments_come_in_source_order() -> None:
    text = "# 1\nif a:  # 2\n    x = (  # 3\n        1\n    )  # 4\n    # 5\nelse:  # 6\n    y  # 7\n# 8\n"
    assert comments_in([cst.parse_module(text)]) == [f"# {number}" for number in range(1, 9)]


def test_each_new_comment_stands_for_one_old_one() -> None:
    assert not_repeated(["# a", "# b", "# a", "# c"], ["# a", "# c", "# d"]) == ["# b", "# a"]


def test_comment_lines_take_the_indentation_of_their_place() -> None:
    block = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()], leading_lines=comment_lines(["# a"]))])
    assert cst.Module([cst.If(cst.Name("x"), block)]).code == "if x:\n    # a\n    pass\n"
