"""Each kind of guard that fails in one program, run once; the lines that read the guarded values are marked there."""

from __future__ import annotations

import pytest
from evidence_runs import Run, run

from gbfix.evidence.model import Evidence, Recompile

PROGRAM = "evidence_recompiling.py"
EXPECTED = {
    "sizes": [("size", "x", ("4", "5"), 1)],
    "ranks": [("rank", "x", ("1", "2"), 1)],
    "types": [("dtype", "x", ("float32", "float64", "int32"), 2)],
    "strides": [("stride", "x", ("3", "1"), 1)],
    "gradients": [("requires_grad", "x", ("False", "True"), 1)],
    "devices": [("device", "x", ("CPU", "Meta"), 1)],
    "parameters": [("type", "x", ("a tensor type", "torch.nn.parameter.Parameter"), 1)],
    "thirds": [("size", "x", ("4", "5"), 1), ("shape_expression", "x", (), 1)],
    "repeated": [("value", "n", ("2", "3", "4"), 2)],
    "lengths": [("length", "xs", ("1", "2"), 2)],
    "keys": [("length", "d", ("1",), 1)],
    "texts": [("value", "mode", ("'a'", "'b'", "'c'"), 2)],
    "functions": [("identity", "f.__code__", ("code",), 1)],
    "aliases": [("aliasing", "x, y", (), 1)],
    "constants": [("value", "COUNT", ("1", "2"), 2)],
    "modes": [("global_state", "grad_mode", (), 1)],
    "forward": [("value", "self.step", tuple("01234567"), 8)],
}
"""By function compiled again: kind, value looked at, values in order, recompilations."""


@pytest.fixture(scope="module")
def recompiling() -> Run:
    return run(PROGRAM)


@pytest.fixture(scope="module")
def evidence(recompiling: Run) -> Evidence:
    return recompiling.evidence()


def by_function(evidence: Evidence) -> dict[str, list[Recompile]]:
    found: dict[str, list[Recompile]] = {}
    for row in evidence.recompiles:
        found.setdefault(row.place.function, []).append(row)
    return found


def test_the_kind_the_value_and_the_series_of_values(evidence: Evidence) -> None:
    found = {
        function: [(row.kind, row.source_name, row.values, row.count) for row in rows]
        for function, rows in by_function(evidence).items()
    }
    assert found == EXPECTED
    assert evidence.breaks == ()


def test_the_owner_is_the_line_that_reads_the_value(recompiling: Run, evidence: Evidence) -> None:
    marked = {name: line for line, name in recompiling.marked("READ").items()}
    owners = {row.place.function: row.owner for row in evidence.recompiles}
    for name, line in marked.items():
        owner = owners["forward" if name == "counter" else name]
        assert owner is not None
        assert (owner.file, owner.line) == (PROGRAM, line)
    assert owners["modes"] is None
    counter = next(row for row in evidence.recompiles if row.place.function == "forward")
    assert counter.owner is not None
    assert counter.owner.function == "count"
    assert counter.source == "self.step += 1  # READ counter"


def test_only_the_one_that_was_given_up_hit_the_limit(evidence: Evidence) -> None:
    assert [row.place.function for row in evidence.recompiles if row.limit_hit] == ["forward"]
    skipped = {fragment.place.function: fragment.skipped for fragment in evidence.fragments if fragment.skipped}
    assert skipped == {"forward": "recompile limit reached"}


def test_entries(evidence: Evidence) -> None:
    assert {row.entries for row in evidence.recompiles if row.place.function == "sizes"} == {("sizes",)}


@pytest.mark.parametrize("source", ["evidence_of_trace", "evidence_of_log"])
def test_saved_traces_and_logs_tell_the_same_but_for_values_of_arguments(
    source: str, recompiling: Run, evidence: Evidence
) -> None:
    def rows(evidence: Evidence) -> list[tuple[object, ...]]:
        return [
            (row.place, row.guard, row.kind, row.source_name, row.owner, row.source, row.count, row.limit_hit)
            for row in evidence.recompiles
        ]

    saved = getattr(recompiling, source)()
    assert rows(saved) == rows(evidence)
    assert by_function(saved)["sizes"][0].values == ("4", "5")
