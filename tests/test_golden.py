"""Every golden case: the rewrite is the expected one, it is stable, it applies, and the program stays the same.

`golden/<rule>/<case>/` holds `before.py`, `inputs.py` and either `after.py` or `reason.txt`. A case whose name begins
with `unsafe_` needs `--unsafe`, and must stay as it is without; one with a `difference.txt` is known to change its
program for some inputs, and the file holds the assumed claim that says so. `RECOMPILED` of `inputs.py` says what a
recorded run would show to be compiled again. `pytest --update-golden` writes
`after.py` and `reason.txt` anew.
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from programs import load_inputs, run
from recompiled import Sizes, recompiles_of

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.diff import unified_diff
from gbfix.engine.files import encode_source, read_source
from gbfix.engine.model import Discharge, Finding, Result, Safety
from gbfix.engine.passes import fix_text

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = sorted(path.parent for path in GOLDEN.glob("*/*/before.py"))
ONLY_AFTER_A_RUN = "late-reading"
"""A rule that finds nothing without what a run observed: its programs are in tests/late_reading."""
CHANGED = [case for case in CASES if (case / "after.py").exists()]
DIFFERENT = [case for case in CHANGED if (case / "difference.txt").exists()]
REFUSED = [case for case in CASES if (case / "reason.txt").exists()]

VARIANTS: dict[str, Callable[[str], str]] = {
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: "\n".join(_tabs(line) for line in text.split("\n")),
    "no final newline": lambda text: text.rstrip("\n"),
}


def _tabs(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return "\t" * (blanks // 4) + " " * (blanks % 4) + line[blanks:]


def comments_of(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def read(path: Path) -> str:
    return path.read_bytes().decode()


def finder(text: str, case: Path) -> Callable[[str], list[Finding]]:
    """What finds the sites of a text and of what it becomes."""
    source = parse("before.py", text)
    recompiled = [Sizes(**sizes) for sizes in load_inputs(case).recompiled]
    project = load([source], recompiles=recompiles_of(source, *recompiled) if recompiled else None)

    def find(current: str) -> list[Finding]:
        file = parse("before.py", current)
        view = (project.with_file(file) if recompiled else load([file])).view("before.py")
        return [finding for rule in all_rules() for finding in rule.find(view)]

    return find


def fix(text: str, case: Path) -> Result:
    return fix_text(text, finder(text, case), unsafe=case.name.startswith("unsafe_"))


def test_there_are_cases_for_every_rule() -> None:
    folders = {case.parent.name for case in CASES}
    with_cases = [rule for rule in all_rules() if rule.name != ONLY_AFTER_A_RUN]
    assert folders == {rule.name.replace("-", "_") for rule in with_cases}


def test_rules_that_only_advise_change_no_case() -> None:
    advising = {rule.name.replace("-", "_") for rule in all_rules() if not rule.rewrites}
    assert advising.isdisjoint(case.parent.name for case in CHANGED)


def test_every_case_has_one_outcome() -> None:
    assert not [name_of(case) for case in CASES if (case in CHANGED) == (case in REFUSED)]


@pytest.mark.parametrize("case", CHANGED, ids=name_of)
def test_rewrite_is_the_expected_one(case: Path, request: pytest.FixtureRequest) -> None:
    result = fix(read(case / "before.py"), case)
    if request.config.getoption("--update-golden"):
        (case / "after.py").write_bytes(result.after.encode())
    assert result.after == read(case / "after.py")
    assert result.changed
    codes = {finding.name.replace("-", "_") for finding in result.applied}
    assert case.parent.name in codes


@pytest.mark.parametrize("case", CHANGED, ids=name_of)
def test_second_pass_changes_nothing(case: Path) -> None:
    after = read(case / "after.py")
    assert fix(after, case).after == after
    ast.parse(after)


@pytest.mark.parametrize("case", [case for case in CHANGED if case.name.startswith("unsafe_")], ids=name_of)
def test_unsafe_case_is_left_alone_without_unsafe(case: Path) -> None:
    before = read(case / "before.py")
    result = fix_text(before, finder(before, case))
    assert result.after == before
    assert Safety.UNSAFE in {finding.safety for finding in result.findings}


@pytest.mark.parametrize("case", CHANGED, ids=name_of)
def test_comments_are_kept(case: Path) -> None:
    before, after = (Counter(comments_of(read(case / name))) for name in ("before.py", "after.py"))
    assert not before - after


@pytest.mark.parametrize("case", CHANGED, ids=name_of)
def test_diff_applies(case: Path, tmp_path: Path) -> None:
    target = tmp_path / "before.py"
    target.write_bytes((case / "before.py").read_bytes())
    patch = unified_diff("before.py", read(case / "before.py"), read(case / "after.py"))
    subprocess.run(["git", "apply"], input=patch.encode(), cwd=tmp_path, check=True)
    assert target.read_bytes() == (case / "after.py").read_bytes()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case", CHANGED, ids=name_of)
def test_layout_variants_hold(case: Path, variant: str) -> None:
    change = VARIANTS[variant]
    result = fix(change(read(case / "before.py")), case)
    assert result.after == change(read(case / "after.py"))


@pytest.mark.parametrize("case", CHANGED, ids=name_of)
def test_byte_order_mark_holds(case: Path, tmp_path: Path) -> None:
    marked = tmp_path / "before.py"
    marked.write_bytes(codecs.BOM_UTF8 + (case / "before.py").read_bytes())
    source = read_source(marked)
    assert encode_source(source, fix(source.text, case).after) == codecs.BOM_UTF8 + (case / "after.py").read_bytes()


@pytest.mark.parametrize("case", DIFFERENT, ids=name_of)
def test_difference_is_named_by_an_assumption(case: Path) -> None:
    inputs = load_inputs(case)
    before, after = (
        [run(case / name, inputs, compiled=compiled).observations for compiled in (False, True)]
        for name in ("before.py", "after.py")
    )
    assert after != before
    applied = fix(read(case / "before.py"), case).applied
    assumed = {o.claim for finding in applied for o in finding.obligations if o.discharge is Discharge.ASSUMED}
    assert set(read(case / "difference.txt").split("\n")) - {""} <= assumed


@pytest.mark.parametrize("case", DIFFERENT, ids=name_of)
def test_difference_is_named_in_the_output(case: Path, tmp_path: Path) -> None:
    (tmp_path / "before.py").write_bytes((case / "before.py").read_bytes())
    start = "from gbfix.cli.main import main; main()"
    command = [sys.executable, "-c", start, "apply", "--unsafe", "before.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = ran.stdout + ran.stderr
    for claim in read(case / "difference.txt").split("\n"):
        assert re.search(rf"^  assumed   {re.escape(claim)}" if claim else "", said, re.MULTILINE)


@pytest.mark.parametrize("case", [case for case in CHANGED if case not in DIFFERENT], ids=name_of)
def test_program_stays_the_same(case: Path) -> None:
    inputs = load_inputs(case)
    eager_before = run(case / "before.py", inputs, compiled=False)
    eager_after = run(case / "after.py", inputs, compiled=False)
    assert eager_after.observations == eager_before.observations
    compiled_before = run(case / "before.py", inputs, compiled=True)
    compiled_after = run(case / "after.py", inputs, compiled=True)
    # Where Dynamo does something else than the program does eagerly, the rewrite may do what the program does.
    if compiled_after.observations != eager_before.observations:
        assert compiled_after.observations == compiled_before.observations
    assert compiled_after.graphs > 0
    assert compiled_after.graphs < compiled_before.graphs or compiled_before.graphs == 0


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_refused_case_stays_with_its_reason(case: Path, request: pytest.FixtureRequest) -> None:
    before = read(case / "before.py")
    result = fix_text(before, finder(before, case), unsafe=True)
    assert result.after == before
    if request.config.getoption("--update-golden"):
        (case / "reason.txt").write_text(reasons(result.findings) + "\n")
    assert reasons(result.findings) == read(case / "reason.txt").strip()


def reasons(found: Sequence[Finding]) -> str:
    """The refusals as `line: claim: reason`; "nothing found" where there is none."""
    refused = [finding for finding in found if finding.safety is Safety.REFUSED]
    lines = [f"{o.line}: {o.claim}: {o.reason}" for finding in refused for o in finding.obligations]
    return "\n".join(lines) or "nothing found"
