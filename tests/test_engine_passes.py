from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from replacing import span_of

from gbfix.engine.model import Discharge, Finding, Fix, GbfixError, Obligation, Replacement, Safety, SourceError, Span
from gbfix.engine.passes import fix_text

Find = Callable[[str], Sequence[Finding]]

PROVED = (Obligation("pure", Discharge.PROVED, "only +"),)
ASSUMED = (*PROVED, Obligation("same shape", Discharge.ASSUMED, "nothing is known"))


def rule(
    code: str,
    pattern: str,
    new: str,
    obligations: tuple[Obligation, ...] = PROVED,
    imports: tuple[str, ...] = (),
) -> Find:
    """A rule that replaces what matches the pattern."""

    def find(text: str) -> list[Finding]:
        return [
            Finding(
                code,
                code.lower(),
                span,
                f"{code} in line {span.line}",
                "f",
                "",
                obligations,
                Fix(code, (edit,), imports),
            )
            for match in re.finditer(pattern, text)
            for span in [_span(text, match)]
            for edit in [Replacement(span, match.expand(new))]
        ]

    return find


def together(*rules: Find) -> Find:
    return lambda text: [finding for find in rules for finding in find(text)]


def _span(text: str, match: re.Match[str]) -> Span:
    before, until = text[: match.start()].split("\n"), text[: match.end()].split("\n")
    return Span(len(before), len(before[-1]), len(until), len(until[-1]))


def test_findings_are_those_of_the_original_text_and_applied_ones_come_in_order() -> None:
    find = together(rule("GBF102", r"two", "three"), rule("GBF101", r"one", "two"))
    result = fix_text("x = one\ny = two\n", find)
    assert result.after == "x = three\ny = three\n"
    assert [(f.code, f.span.line) for f in result.findings] == [("GBF101", 1), ("GBF102", 2)]
    assert [(f.code, f.span.line) for f in result.applied] == [("GBF101", 1), ("GBF102", 2), ("GBF102", 1)]
    assert fix_text(result.after, find).changed is False


def test_an_outer_fix_waits_for_the_inner_one() -> None:
    find = together(rule("GBF101", r"outer\((\w+)\)", r"\1"), rule("GBF102", r"inner", "core"))
    result = fix_text("x = outer(inner)\n", find)
    assert result.after == "x = core\n"
    assert [f.code for f in result.applied] == ["GBF102", "GBF101"]


def test_unsafe_fixes_only_when_asked_and_refused_ones_never() -> None:
    refused = (Obligation("pure", Discharge.VIOLATED, "prints"),)
    find = together(
        rule("GBF101", "aa", "xx", ASSUMED), rule("GBF102", "bb", "yy"), rule("GBF103", "cc", "zz", refused)
    )
    text = "aa = bb + cc\n"
    assert fix_text(text, find).after == "aa = yy + cc\n"
    assert fix_text(text, find, unsafe=True).after == "xx = yy + cc\n"
    assert [f.safety for f in fix_text(text, find).findings] == [Safety.UNSAFE, Safety.SAFE, Safety.REFUSED]


def test_an_unsafe_inner_fix_does_not_keep_back_a_safe_outer_one() -> None:
    find = together(rule("GBF101", r"outer\((\w+)\)", r"\1"), rule("GBF102", r"inner", "core", ASSUMED))
    assert fix_text("x = outer(inner)\n", find).after == "x = inner\n"


def test_suppressed_findings_are_left_alone_in_every_pass() -> None:
    text = "x = one  # gbfix: ignore[GBF102]\ny = one  # gbfix: ignore[GBF101]\nz = 1  # gbfix: ignore\n"
    result = fix_text(text, together(rule("GBF101", r"\bone", "two"), rule("GBF102", r"\btwo", "three")))
    assert result.after == text.replace("x = one", "x = two")
    assert [(f.code, f.span.line) for f in result.findings] == [("GBF101", 1)]
    assert result.unused_suppressions == (1, 3)


def test_an_unreadable_suppression_is_an_error() -> None:
    with pytest.raises(SourceError, match="line 1"):
        fix_text("x = one  # gbfix: ignore[\n", rule("GBF101", "one", "two"))


class TestAccept:
    def test_is_asked_with_the_text_the_lines_refer_to(self) -> None:
        asked: list[tuple[str, str]] = []

        def accept(finding: Finding, text: str) -> bool:
            asked.append((finding.code, text.split("\n")[finding.span.line - 1]))
            return True

        find = together(rule("GBF101", r"(?m)^one$", "two\ntwo"), rule("GBF102", r"(?m)^two$", "three"))
        result = fix_text("one\ntwo\n", find, accept=accept)
        assert result.after == "three\nthree\nthree\n"
        assert asked == [("GBF101", "one"), ("GBF102", "two"), ("GBF102", "two"), ("GBF102", "two")]

    def test_what_is_declined_is_not_asked_again_when_lines_move(self) -> None:
        asked: list[str] = []

        def accept(finding: Finding, _: str) -> bool:
            asked.append(finding.code)
            return finding.code != "GBF102"

        find = together(
            rule("GBF101", "(?m)^one$", "1\n1"), rule("GBF102", "keep", "lost"), rule("GBF103", "(?m)^1$", "2")
        )
        result = fix_text("one\nkeep\n", find, accept=accept)
        assert result.after == "2\n2\nkeep\n"
        assert asked.count("GBF102") == 1
        assert [f.code for f in result.findings] == ["GBF101", "GBF102"]

    def test_of_equal_sites_each_is_asked(self) -> None:
        answers = iter([False, True, False])
        result = fix_text("one\none\none\n", rule("GBF101", "one", "two"), accept=lambda *_: next(answers))
        assert result.after == "one\ntwo\none\n"

    def test_a_declined_inner_fix_gives_way_to_the_outer_one(self) -> None:
        find = together(rule("GBF101", r"outer\((\w+)\)", r"\1"), rule("GBF102", r"inner", "core"))
        result = fix_text("x = outer(inner)\n", find, accept=lambda finding, _: finding.code != "GBF102")
        assert result.after == "x = inner\n"

    def test_is_not_asked_about_fixes_that_are_not_applied(self) -> None:
        result = fix_text("one\n", rule("GBF101", "one", "two", ASSUMED), accept=lambda *_: pytest.fail("asked"))
        assert not result.changed


class TestFailingEdits:
    def test_do_not_keep_back_others_and_become_refusals(self) -> None:
        find = together(
            rule("GBF101", "bad", "not ( python"), rule("GBF102", "good", "better"), rule("GBF103", "better", "best")
        )
        result = fix_text("x = bad\ny = good\n", find)
        assert result.after == "x = bad\ny = best\n"
        failed = result.findings[0]
        assert failed.code == "GBF101"
        assert failed.safety is Safety.REFUSED
        assert failed.obligations[:-1] == PROVED
        assert failed.obligations[-1].claim == "the edit could be made"
        assert failed.obligations[-1].line == 1
        assert "not ( python" in failed.obligations[-1].reason
        assert result.findings[1].safety is Safety.SAFE

    def test_in_a_later_pass_are_reported_too(self) -> None:
        find = together(rule("GBF101", "one", "two"), rule("GBF102", "two", "not ( python"))
        result = fix_text("x = one\n", find)
        assert result.after == "x = two\n"
        assert [(f.code, f.safety) for f in result.findings] == [("GBF101", Safety.SAFE), ("GBF102", Safety.REFUSED)]

    def test_a_failing_inner_fix_gives_way_to_the_outer_one(self) -> None:
        find = together(rule("GBF101", r"outer\((\w+)\)", r"\1"), rule("GBF102", r"inner", "in ( ner"))
        result = fix_text("x = outer(inner)\n", find)
        assert result.after == "x = inner\n"
        assert [f.safety for f in result.findings] == [Safety.SAFE, Safety.REFUSED]

    def test_an_import_that_cannot_be_added(self) -> None:
        result = fix_text("torch = one\n", rule("GBF101", "one", "two", imports=("torch",)))
        assert not result.changed
        assert "torch for something else" in result.findings[0].obligations[-1].reason

    def test_a_text_that_cannot_be_edited_at_all_is_an_error(self) -> None:
        with pytest.raises(SourceError):
            fix_text("\x0cx = one\n", rule("GBF101", "one", "two"))


class TestNoEnd:
    def test_two_rules_that_undo_each_other(self) -> None:
        find = together(rule("GBF101", "one", "two"), rule("GBF202", "two", "one"))
        with pytest.raises(GbfixError, match=r"line 1: two rules undo each other.*GBF202"):
            fix_text("x = one\n", find)

    def test_a_rule_that_feeds_itself(self) -> None:
        with pytest.raises(GbfixError, match="GBF101"):
            fix_text("x = one\n", rule("GBF101", "one", "more(one)"))

    def test_a_fix_that_changes_nothing(self) -> None:
        with pytest.raises(GbfixError, match="GBF101"):
            fix_text("x = one\n", rule("GBF101", "one", "one"))


def test_without_findings_nothing_is_parsed() -> None:
    result = fix_text("x = (", lambda _: ())
    assert (result.before, result.after, result.changed) == ("x = (", "x = (", False)


def test_findings_without_a_fix_are_kept_in_order() -> None:
    text = "b = one\n"
    plain = Finding("GBF301", "print", span_of(text, "b"), "", "f", "")
    result = fix_text(text, lambda current: [*rule("GBF101", "one", "two")(current), plain])
    assert [f.code for f in result.findings] == ["GBF301", "GBF101"]
