from __future__ import annotations

from pathlib import Path

import pytest

from gbfix.cli.fix_behaviour import Behaviour, Reference, behaviour_of
from gbfix.cli.rerun import Rerun
from gbfix.evidence.model import Evidence

WARNED = """/env/site-packages/torch/_dynamo/eval.py:12: UserWarning: of PyTorch
  warnings.warn("of PyTorch")
W1130 10:00:00.000000 77 torch/_dynamo/convert_frame.py:1] [0/8] torch._dynamo hit config.recompile_limit (8)
<eval_with_key>.12:8: UserWarning: of a graph

  x = torch.tensor(y)
/home/me/train.py:7: UserWarning: of the program
  warnings.warn("of the program")
  deep in a table
Traceback (most recent call last):
  File "/home/me/train.py", line 9, in <module>
    step(x)
    ~~~~^^^
ValueError: no
"""


def ran(output: str, errors: str = "", status: int | None = 0, copies: dict[Path, Path] | None = None) -> Behaviour:
    run = Rerun(status, output.encode(), errors.encode(), 1.0, Evidence("/"), copies or {})
    return behaviour_of(run)


def reference(first: Behaviour, *more: Behaviour, rtol: float = 0.0) -> Reference:
    left = list(more)
    return Reference(first, lambda: left.pop(0), rtol)


def test_line_numbers_quoted_source_and_what_pytorch_says_are_left_out() -> None:
    assert ran("", WARNED).errors == (
        "/home/me/train.py: UserWarning: of the program",
        "  deep in a table",
        "Traceback (most recent call last):",
        "ValueError: no",
    )


def test_a_warning_of_pytorch_is_left_out_to_its_end(tmp_path: Path) -> None:
    module = tmp_path / "site-packages" / "torch" / "_dynamo" / "functions.py"
    module.parent.mkdir(parents=True)
    module.write_text("import warnings\nwarnings.warn(text)\n")
    warning = (
        f"{module}:2: UserWarning: a call was found\n\nIt originates from:\n  File 'a.py'\n\n  warnings.warn(text)\n"
    )
    assert ran("", f"before\n{warning}  after\n").errors == ("before", "  after")


def test_a_copy_counts_as_its_original() -> None:
    copies = {Path("/home/me/a.py"): Path("/tmp/gbfix-run-1/.gbfix/overlay/a.py")}
    text = "{}: loaded from {}\n"
    one = ran(text.format("/home/me/a.py", "/home/me"))
    assert ran(text.format("/tmp/gbfix-run-1/.gbfix/overlay/a.py", "/home/me"), copies=copies) == one


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (ran("a\nc\n"), "it writes 'c' instead of 'b' (line 2 of its output)"),
        (ran("a\n"), "it writes nothing instead of 'b' (line 2 of its output)"),
        (ran("a\nb\nb\n"), "it writes 'b' instead of nothing (line 3 of its output)"),
        (ran("a\nb\n", "x\n"), "it writes 'x' instead of nothing (line 1 of its standard error)"),
        (ran("a\nb\n", "E\nValueError: no\n", 1), "it ends with status 1 instead of 0: ValueError: no"),
        (ran("", status=None), "it was not done in time"),
        (ran("a\nb\n"), ""),
    ],
)
def test_any_difference_is_told(other: Behaviour, told: str) -> None:
    first = ran("a\nb\n")
    assert reference(first, first).difference(other) == told


def test_what_differs_by_itself_is_not_compared_and_said() -> None:
    found = reference(ran("loss 1\n0.12 s\n"), ran("loss 1\n0.34 s\n"))
    assert found.difference(ran("loss 1\n0.56 s\n")) == ""
    assert found.difference(ran("loss 2\n0.56 s\n")).startswith("it writes 'loss 2' instead of 'loss 1'")
    assert found.notes == ["1 of 2 lines of the program's output differ from run to run: they are not compared"]


def test_a_stream_of_another_length_each_time_is_not_compared() -> None:
    found = reference(ran("a\n", "10%\n"), ran("a\n", "5%\n10%\n"))
    assert found.difference(ran("a\n", "1%\n2%\n3%\n")) == ""
    assert found.difference(ran("b\n", "1%\n")) != ""
    assert "standard error has another length in each run" in found.notes[0]


def test_a_program_that_fails_by_chance_is_told() -> None:
    found = reference(ran("a\n"), ran("a\n", status=1))
    assert found.difference(ran("a\n", status=1)) == ""
    assert found.notes == ["without any fix the program ended with status 0, then with 1"]


def test_numbers_may_be_rounded_otherwise_where_that_is_allowed() -> None:
    close, far = ran("loss 0.5000001 at 3\n"), ran("loss 0.51 at 3\n")
    first = ran("loss 0.5 at 3\n")
    assert reference(first, first, rtol=1e-5).difference(close) == ""
    assert reference(first, first, rtol=1e-5).difference(far) != ""
    assert reference(first, first, rtol=1e-5).difference(ran("rate 0.5 at 3\n")) != ""
    assert reference(first, first).difference(close) != ""


def test_what_the_program_writes_without_torch_compile_is_right_as_well() -> None:
    found = Reference(ran("a\nb\nc\n"), lambda: ran("a\nb\nc\n"), 0.0, lambda: ran("a\nB\nC\n"))
    assert found.difference(ran("a\nB\nc\n")) == ""
    assert ["without torch.compile" in note for note in found.notes] == [True]
    assert found.difference(ran("a\nX\nc\n")) == "it writes 'X' instead of 'b' (line 2 of its output)"
    assert found.difference(ran("A\nB\nC\n")) == "it writes 'A' instead of 'a' (line 1 of its output)"


def test_a_warning_that_python_shows_again_is_no_difference_and_one_that_is_missing_is() -> None:
    warned = '/home/me/train.py:{}: UserWarning: slow\n  warnings.warn("slow")\n'
    once, twice = ran("", warned.format(7) + "loss\n"), ran("", warned.format(9) + "loss\n" + warned.format(9))
    compared = reference(once)
    assert compared.difference(twice) == ""
    assert any("once more" in note for note in compared.notes)
    assert "instead of" in reference(twice, twice).difference(once)
    other = ran("", warned.format(9) + "loss\n" + warned.format(9).replace("slow", "fast"))
    assert "fast" in reference(once, once).difference(other)
    assert "loss" in reference(once, once).difference(ran("", warned.format(9) + "loss\nloss\n"))
