from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evidence_sample import branch, report, sizes

from gbfix.cli.evidence_words import count, kind_of_break, kind_of_recompile, totals_lines
from gbfix.evidence.model import Process


def test_a_kind_says_what_became_of_the_function() -> None:
    site = branch("safe.py")
    assert kind_of_break(site) == "GB0170 Data-dependent branching"
    worse = replace(site, others=("GB7000",), skipped_frame=True, first_shape=False)
    assert kind_of_break(worse) == (
        "GB0170 Data-dependent branching, with GB7000; the whole function runs in Python; only when compiled again"
    )
    assert kind_of_break(replace(site, fullgraph=True)).endswith("; an error under fullgraph=True")
    assert kind_of_break(replace(site, gb="", kind="")) == "unknown kind"


def test_a_recompile_names_its_value_and_guard() -> None:
    assert kind_of_recompile(sizes()).startswith("another size of x (tensor 'x' size mismatch")
    assert kind_of_recompile(sizes(kind="other", source_name="", guard="")) == "another condition"


def test_the_run_in_one_line(tmp_path: Path) -> None:
    ranks = (Process(1, rank=0, torch="2.13.0"), Process(2, rank=1, torch="2.13.0"))
    made = report(tmp_path, processes=ranks, complete=False, exit_status=137)
    assert totals_lines(made)[0] == "gbfix trace, PyTorch 2.13.0, 2 ranks, exit status 137, incomplete"
    saved = report(tmp_path, mode="torch_trace", exit_status=None)
    assert totals_lines(saved)[0] == "gbfix trace, PyTorch 2.13.0, from TORCH_TRACE files"


def test_what_gbfix_would_fix(tmp_path: Path) -> None:
    def fixes(*files: str) -> str:
        return totals_lines(report(tmp_path, breaks=tuple(map(branch, files))))[-1]

    assert fixes("safe.py") == "gbfix apply fixes 1 of the breaks"
    assert (
        fixes("safe.py", "unsafe.py") == "gbfix apply fixes 1 of the breaks, with --unsafe 1 more; --check tests them"
    )
    assert fixes("unsafe.py").startswith("gbfix apply --unsafe fixes 1 of the breaks")
    assert fixes("refused.py") == "gbfix has a fix for none of the breaks; each row says what helps"


def test_a_log_tells_only_what_it_was_asked_for(tmp_path: Path) -> None:
    (_, counts) = totals_lines(report(tmp_path, mode="torch_logs"))
    assert counts == "no graph breaks in this log, no recompiles in this log"


def test_numbers_and_their_nouns() -> None:
    assert (count(1, "graph"), count(2, "graph")) == ("1 graph", "2 graphs")
