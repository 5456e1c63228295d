"""What Dynamo knows at a line while it traces, against what the same program holds there when it runs in Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from observed import Observed, observe

PROGRAM = Path(__file__).with_name("evidence_values_program.py")
TEXT = PROGRAM.read_text()

TRUTH = """
import json, runpy, sys, torch
program, out = sys.argv[1:]
runs = []

def facts(value):
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype)[6:], "shape": list(value.shape), "stride": list(value.stride()),
                "device": str(value.device), "requires_grad": value.requires_grad}
    return repr(value) if type(value) in (bool, int, float, str, type(None)) else type(value).__name__

def local(frame, event, argument):
    if event == "line":
        held = {name: facts(value) for name, value in frame.f_locals.items()}
        runs.append([frame.f_lineno, torch.is_grad_enabled(), held])
    return local

sys.settrace(lambda frame, event, argument: local if frame.f_code.co_filename == program else None)
runpy.run_path(program, run_name="__main__")
sys.settrace(None)
open(out, "w").write(json.dumps(runs))
"""


@dataclass(frozen=True)
class Run:
    """What a line held when the program ran in Python."""

    line: int
    grad_enabled: bool
    values: dict[str, Any]


def line_of(text: str) -> int:
    assert TEXT.count(text) == 1, text
    return TEXT[: TEXT.index(text)].count("\n") + 1


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    return observe(PROGRAM, tmp_path_factory.mktemp("observed") / "journals", values=True)


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("truth")
    script, out = folder / "truth.py", folder / "runs.json"
    script.write_text(TRUTH)
    environment = {"TORCHDYNAMO_DISABLE": "1"}
    done = subprocess.run([sys.executable, script, PROGRAM, out], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [Run(*run) for run in json.loads(out.read_text())]


def agrees(note: dict[str, Any], run: Run, leave_out: Sequence[str] = ()) -> bool:
    """Whether a run had the facts of an observation; a symbol stands for one number all through."""
    symbols: dict[str, int] = {}
    known = {name: spec for name, spec in note["values"].items() if name in run.values and name not in leave_out}
    return note["grad_enabled"] is run.grad_enabled and all(
        same(spec, run.values[name], symbols) for name, spec in known.items()
    )


def same(spec: dict[str, Any], real: Any, symbols: dict[str, int]) -> bool:
    if "tensor" not in spec:
        return not isinstance(real, dict) and ("value" not in spec or spec["value"] == real)
    if not isinstance(real, dict) or any(spec["tensor"][name] != real[name] for name in ("dtype", "device")):
        return False
    sizes = zip(spec["tensor"]["shape"], real["shape"], strict=False)
    strides = zip(spec["tensor"]["stride"], real["stride"], strict=False)
    return (
        len(spec["tensor"]["shape"]) == len(real["shape"])
        and spec["tensor"]["requires_grad"] == real["requires_grad"]
        and all(symbols.setdefault(size, number) == number for size, number in [*sizes, *strides] if size != number)
        and not any(isinstance(size, int) and size != number for size, number in [*sizes, *strides])
    )


def notes_at(observed: Observed, text: str, **fields: object) -> list[dict[str, Any]]:
    return observed.notes("observation", line=line_of(text), **fields)


def warnings_of(stderr: str) -> list[str]:
    """The lines of PyTorch's log without time and process."""
    return [re.sub(r"^[VIWE]\d{4} \S+ +\d+ ", "", line) for line in stderr.splitlines()]


def counts(observed: Observed) -> dict[int, int]:
    return {note["id"]: note["count"] for note in observed.notes("observed")}


def test_the_program_runs_as_it_does_unobserved(observed: Observed) -> None:
    plain = subprocess.run([sys.executable, PROGRAM], env={}, capture_output=True, text=True)
    assert (observed.status, observed.stdout) == (0, plain.stdout)
    assert warnings_of(observed.stderr) == warnings_of(plain.stderr)
    assert "unique_graphs" in plain.stdout
    assert plain.stdout.count("grows ") >= 2


def test_no_part_of_it_failed(observed: Observed) -> None:
    assert observed.notes("problem") == []
    assert observed.notes("end") != []


def test_every_observation_is_true_of_a_run(observed: Observed, truth: list[Run]) -> None:
    changed_by_its_own_statement = line_of("y.resize_(2, 6)")
    wrong = [
        note
        for note in observed.notes("observation")
        if not any(run.line == note["line"] and agrees(note, run) for run in truth)
        and (note["line"], note["how"]) != (changed_by_its_own_statement, "resumed")
    ]
    assert wrong == []


def test_every_run_of_an_observed_line_is_covered(observed: Observed, truth: list[Run]) -> None:
    notes = observed.notes("observation")
    lines = {note["line"] for note in notes}
    missing = [
        run
        for run in truth
        if run.line in lines
        and not any(n["line"] == run.line and n["how"] != "resumed" and agrees(n, run, n["unguarded"]) for n in notes)
    ]
    assert missing == []
    assert len(lines) >= 20


def test_sizes_that_became_dynamic_are_symbols(observed: Observed) -> None:
    shapes = [
        note["values"]["y"]["tensor"]["shape"] for note in notes_at(observed, "if y.sum() > 0:\n        y = y + w")
    ]
    assert [4, 3] in shapes
    assert any(isinstance(first, str) and second == 3 for first, second in shapes)


def test_a_view_is_an_alias(observed: Observed) -> None:
    assert notes_at(observed, "if y.sum() > 0:\n        y = y + w")[0]["aliases"] == [["v", "y"]]


def test_what_only_the_arms_read_is_read_at_the_start_and_guarded_where_the_frame_resumes(observed: Observed) -> None:
    notes = notes_at(observed, "if y.sum() > 0:\n        y = y + w")
    assert not any("w" in note["unguarded"] for note in notes)
    started = [note["values"]["w"] for note in notes if note["how"] == "traced"]
    assert {value["tensor"]["dtype"] for value in started} == {"float32", "float64"}
    resumed = [note["values"]["w"] for note in notes if note["how"] == "resumed" and "w" in note["values"]]
    assert {value["tensor"]["dtype"] for value in resumed} == {"float32", "float64"}
    assert not any("w" in note["unguarded"] for note in notes if note["how"] == "resumed")
    assert {note["function"] for note in notes} == {"grows"}


def test_an_inlined_function_is_observed(observed: Observed) -> None:
    notes = notes_at(observed, "if factor > 1 and z.sum() > 0:", how="traced")
    factors = [note["values"]["factor"] for note in notes]
    assert factors != []
    assert all(factor == {"kind": "int", "type": "int", "value": "2"} for factor in factors)


def test_attributes_of_a_module_are_observed(observed: Observed) -> None:
    notes = notes_at(observed, "if y.abs().sum() > self.step:")
    values = notes[0]["values"]
    assert values["self"]["items"] == [["training", {"kind": "bool", "type": "bool", "value": "True"}]]
    assert values["self.scale"] == {"kind": "float", "type": "float", "value": "2.0"}
    assert values["self.offset"]["tensor"]["shape"] == [3]
    assert values["SHIFT"]["tensor"]["dtype"] == "float32"
    assert values["self.linear"]["type"] == "torch.nn.modules.linear.Linear"
    steps = [note["values"].get("self.step", {}).get("value") for note in notes]
    assert steps[0] == "1", "the value that the traced code has set, not the one the object still holds"


def test_gradient_mode_is_that_of_the_line(observed: Observed) -> None:
    (inside,) = notes_at(observed, "z = y.mean() if y.sum() > 0 else y.sum()", how="traced")[:1]
    assert inside["grad_enabled"] is False
    assert inside["values"]["y"]["tensor"]["requires_grad"] is False
    (outside,) = notes_at(observed, "return z + (x if x.mean() > 0 else -x).sum()", how="traced")[:1]
    assert outside["grad_enabled"] is True


def test_containers_and_equal_arguments(observed: Observed) -> None:
    note = notes_at(observed, 'if options["flag"] and x.sum() > 0:')[0]
    items, options = note["values"]["items"], dict(note["values"]["options"]["items"])
    assert (items["kind"], items["length"], dict(items["items"])["1"]["tensor"]["shape"]) == ("list", 2, [3])
    assert (options["k"]["value"], options["t"]["tensor"]["dtype"]) == ("1", "float16")
    assert any({"same", "x"} <= set(group) for group in note["aliases"])


def test_a_closure_shows_what_its_cell_holds(observed: Observed) -> None:
    notes = notes_at(observed, "return y + bias if bias > 0 else y - bias")
    assert notes[0]["values"]["bias"]["tensor"]["shape"] == []


def test_the_line_of_a_break_is_observed_although_it_decides_nothing(observed: Observed) -> None:
    notes = notes_at(observed, 'print("sum", float(y.sum()))')
    assert [1] in [note["values"]["y"]["tensor"]["shape"] for note in notes]


def test_a_multiple_of_a_size_is_no_number(observed: Observed) -> None:
    notes = notes_at(observed, "if y.sum() > 0:\n        y = y + w")
    shapes = [note["values"]["v"]["tensor"]["shape"] for note in notes if "v" in note["values"]]
    assert any(isinstance(shape[0], str) and shape[0].startswith("3*") for shape in shapes)


def test_counts_are_kept(observed: Observed) -> None:
    assert set(counts(observed)) == {note["id"] for note in observed.notes("observation")}
