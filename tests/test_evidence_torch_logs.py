from __future__ import annotations

from pathlib import Path

import pytest
from evidence_runs import run

from gbfix.engine.model import GbfixError
from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import read_evidence
from gbfix.evidence.torch_logs import read_torch_logs

UNSUPPORTED = """\
Traceback (most recent call last):
  File "/p/a.py", line 9, in <module>
    torch.compile(f, fullgraph=True)(x)
  File "/v/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", line 7, in compile_wrapper
    raise e
torch._dynamo.exc.Unsupported: Data-dependent branching
  Explanation: Detected data-dependent branching.
  Hint: Use `torch.cond` to express dynamic control flow.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://example.org/gb/gb0170.html

from user code:
   File "/p/a.py", line 5, in f
    return x + 1 if x.sum() > 0 else x

Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace
"""


def read(path: Path) -> Evidence:
    return read_evidence(read_torch_logs(path), root=path.parent, mode="torch_logs")


def prefixed(lines: str, log: str, *, pid: int = 5, identity: str = "[0/0] ", rank: int | None = None) -> str:
    begin = f"[rank{rank}]:" if rank is not None else ""
    prefix = f"{begin}V1129 12:00:00.000000 {pid} torch/_dynamo/x.py:5117] {identity}[__{log}] "
    return "".join(f"{prefix}{line}\n" for line in lines.splitlines())


def broken(line: int, function: str = "f") -> str:
    return (
        f"Graph break in user code at /p/a.py:{line}\nGraph Break Reason: Call to print\n  Explanation: No.\n\n"
        f'User code traceback:\n  File "/p/a.py", line {line}, in {function}\n    print()\n\n'
    )


def test_a_repeated_break_takes_the_stack_of_its_first_report(tmp_path: Path) -> None:
    site = "/v/lib/python3.11/site-packages/timm/x.py"
    stack = f'  File "/p/a.py", line 9, in f\n    g(x)\n  File "{site}", line 3, in g\n    print()\n'
    first = f"Graph break in user code at {site}:3\nReason: Call to print\n\nUser code traceback:\n{stack}"
    again = (
        f"Graph break (user stack suppressed due to duplicate graph break) in user code at {site}:3\n"
        "Graph Break Reason: Call to print\n"
    )
    log = tmp_path / "log.txt"
    log.write_text(prefixed(first, "graph_breaks") + "training\n" + prefixed(again, "graph_breaks", identity="[1/0] "))
    (found,) = read(log).breaks
    assert (found.events, found.place.function, found.source) == (2, "g", "print()")
    assert found.project is not None
    assert found.project.line == 9


def test_lines_of_processes_that_are_mixed(tmp_path: Path) -> None:
    one = prefixed(broken(3), "graph_breaks", pid=5, rank=0).splitlines(keepends=True)
    two = prefixed(broken(8), "graph_breaks", pid=6, rank=1).splitlines(keepends=True)
    log = tmp_path / "log.txt"
    log.write_text("".join(line for pair in zip(one, two, strict=True) for line in (*pair, "loss 3.2\n")))
    evidence = read(log)
    assert [(process.pid, process.rank) for process in evidence.processes] == [(5, 0), (6, 1)]
    assert [(site.place.line, site.ranks) for site in evidence.breaks] == [(3, (0,)), (8, (1,))]


def test_the_text_of_an_exception(tmp_path: Path) -> None:
    saved = tmp_path / "error.txt"
    saved.write_text(UNSUPPORTED)
    (site,) = read(saved).breaks
    assert (site.gb, site.place.line, site.place.function, site.kind) == ("GB0170", 5, "f", "Data-dependent branching")
    assert (site.skipped_frame, site.source) == (False, "return x + 1 if x.sum() > 0 else x")


def test_what_a_log_cannot_know_is_said(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(prefixed(broken(3), "graph_breaks"))
    problems = " ".join(read(log).problems)
    for missing in ("columns", "calls", "hits", "values", "graphs", "reported before"):
        assert missing in problems


def test_the_verbose_log_of_recompilations(tmp_path: Path) -> None:
    text = (
        "Recompiling function f in /p/a.py:3\n    triggered by the following guard failure(s):\n"
        "    guard 0 failures:\n    - 0/1: n == 2\n\n    guard 1 failures:\n    - 0/0: n == 1\n"
    )
    log = tmp_path / "log.txt"
    log.write_text(prefixed(text, "recompiles_verbose", identity="[0/2] "))
    (row,) = read(log).recompiles
    assert (row.guard, row.place.file, row.place.line, row.values) == ("n == 2", "/p/a.py", 3, ("2",))


def test_the_warning_of_the_recompile_limit_names_the_guard(tmp_path: Path) -> None:
    prefix = "W1129 12:00:00.000000 5 torch/_dynamo/convert_frame.py:1994] [2/8] "
    lines = (
        "torch._dynamo hit config.recompile_limit (8)",
        "   function: 'forward' (/p/a.py:14)",
        "   last reason: 2/7: self.calls == 7          # self.calls += 1  # p/a.py:15 in forward (HINT: torch.compile)",
        'To log all recompilation reasons, use TORCH_LOGS="recompiles".',
    )
    log = tmp_path / "log.txt"
    log.write_text("".join(f"{prefix}{line}\n" for line in lines))
    (row,) = read(log).recompiles
    assert (row.kind, row.source_name, row.guard) == ("value", "self.calls", "self.calls == 7")
    assert (row.limit_hit, row.count) == (True, 1)


def test_a_file_without_any_is_an_error_that_names_it(tmp_path: Path) -> None:
    log = tmp_path / "other.txt"
    log.write_text("hello\nRuntimeError: no\n")
    with pytest.raises(GbfixError, match=r"other.txt: holds no graph break and no recompilation; .*TORCH_LOGS"):
        list(read_torch_logs(log))
    with pytest.raises(GbfixError, match=r"gone.txt: cannot be read: No such file"):
        list(read_torch_logs(tmp_path / "gone.txt"))


def test_a_log_that_torch_wrote_between_other_output() -> None:
    evidence = run("evidence_breaking.py").evidence_of_log()
    assert len(evidence.breaks) > 20
    assert all(site.gb for site in evidence.breaks)
