import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def overhead() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gbfix_benchmarks_trace_overhead", BENCHMARKS / "trace_overhead.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def round_of(plain: float, trace: float, values: float) -> dict[str, dict[str, float]]:
    return {
        mode: {"start": 1.0, "compile": 2.0, "steady": steady}
        for mode, steady in (("values", values), ("plain", plain), ("trace", trace))
    }


def test_ratios_are_to_the_plain_run_of_the_same_round(
    overhead: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = [round_of(1.0, 1.0, 1.5), round_of(2.0, 2.2, 4.0), round_of(10.0, 30.0, 30.0)]
    assert overhead.report("trace", rounds) == {"start": 1.0, "compile": 1.0, "steady": pytest.approx(1.1)}
    assert overhead.report("values", rounds)["steady"] == 2.0
    assert "trace  steady  1.100  (1.000 to 3.000)" in capsys.readouterr().out
    assert overhead.describe(rounds[0]).startswith("plain start 1.00 s, compile 2.00 s, steady 1.00 s; trace start")


def test_each_mode_begins_a_round(overhead: ModuleType) -> None:
    modes = ("plain", "trace", "values")
    turns = [overhead.turn(modes, number) for number in range(4)]
    assert [turn[0] for turn in turns] == ["plain", "trace", "values", "plain"]
    assert all(set(turn) == set(modes) for turn in turns)


def test_a_run_that_was_not_observed_is_no_measurement(overhead: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text('print(\'{"start": 1, "compile": 1, "steady": 1}\')')
    command = [sys.executable, str(script)]
    assert overhead.run(command, "plain")["steady"] == 1
    with pytest.raises(SystemExit, match=r"have no .*'calls'"):
        overhead.run(command, "trace")
