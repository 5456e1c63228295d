from __future__ import annotations

from pathlib import Path

import pytest
from evidence_sample import evidence, sizes

from gbfix.analysis.observations import ValueSpec
from gbfix.cli.evidence_advice import Remedy
from gbfix.cli.recompile_advice import recompile_remedy
from gbfix.evidence.model import ArgumentsSeen, Entry, Fragment, Place
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS

DEFAULT, STATIC = Entry("f", dynamic="None"), Entry("f", dynamic="False")


def _remedy(*entries: Entry, **changes: object) -> Remedy:
    return recompile_remedy(evidence(Path("/"), entries=entries), sizes(**changes))


def test_a_second_size_needs_nothing() -> None:
    assert _remedy(DEFAULT).settled


@pytest.mark.parametrize(
    "remedy",
    [
        _remedy(STATIC),
        _remedy(DEFAULT, count=2),
        _remedy(DEFAULT, limit_hit=True),
        _remedy(),
        _remedy(count=2),
    ],
    ids=["dynamic=False", "compiled more often", "limit", "entry not known", "entry not known, more often"],
)
def test_a_size_that_needs_something(remedy: Remedy) -> None:
    assert remedy.action == "advice"
    assert "torch._dynamo.mark_dynamic(x, 0)" in remedy.text


def test_dynamic_false_is_named_where_it_is_given_or_may_be() -> None:
    assert "it is compiled with dynamic=False" in _remedy(STATIC).text
    assert "if it is compiled without dynamic=False" in _remedy().text


def test_a_value_that_dynamo_keeps_over_a_break_is_not_named() -> None:
    remedy = _remedy(DEFAULT, count=2, source_name="___stack0")
    assert remedy.text == "it follows from the graph break in this function: mend that first, then trace again"
    assert remedy.commands == ("gbfix explain recompiles",)
    assert "___stack0" not in _remedy(DEFAULT, source_name="___stack0").text


def test_size_one_is_always_compiled_for_itself() -> None:
    assert "size 1" in _remedy(DEFAULT, values=("4", "1")).text


def test_a_counter_of_a_module_becomes_a_buffer() -> None:
    remedy = _remedy(DEFAULT, kind="value", source_name="self.step", guard="self.step == 0", values=("0", "1"))
    assert 'register_buffer("step", torch.tensor(0), persistent=False)' in remedy.text


def test_a_text_is_no_number() -> None:
    remedy = _remedy(DEFAULT, kind="value", source_name="mode", guard="mode == 'sum'", values=("'sum'", "'mean'"))
    assert remedy.text.startswith("mode is a text")


def test_a_global_becomes_an_argument() -> None:
    seen = ArgumentsSeen({"x": ValueSpec("tensor")})
    entry = Entry("f", defined=Place("safe.py", 6, "f"), dynamic="None", arguments=(seen,))
    facts = {"kind": "value", "guard": "COUNT == 2", "values": ("2", "3")}
    assert "hand the global COUNT" in _remedy(entry, source_name="COUNT", **facts).text
    assert "global" not in _remedy(entry, source_name="x", **facts).text
    assert "global" not in _remedy(DEFAULT, source_name="COUNT", **facts).text


def test_a_number_that_a_break_left_to_python_goes_with_the_break() -> None:
    place = Place("safe.py", 9, "f")
    resumed = evidence(Path("/"), fragments=(Fragment("1/0", place, 0, resumes=7),))
    facts = {"kind": "value", "source_name": "___stack0", "guard": "___stack0 == 6.0", "place": place}
    once, often = recompile_remedy(resumed, sizes(**facts)), recompile_remedy(resumed, sizes(**facts, count=5))
    assert (once.action, often.action) == ("nothing", "advice")
    assert "graph break in line 7" in once.text
    whole = evidence(Path("/"), fragments=(Fragment("1/0", place, 0),))
    assert "graph break" not in recompile_remedy(whole, sizes(**facts)).text


def test_a_lambda_is_hoisted() -> None:
    guard = "___check_obj_id(scale.__code__, 140)"
    remedy = _remedy(DEFAULT, kind="identity", source_name="scale.__code__", guard=guard, values=())
    assert remedy.text.startswith("scale is made anew for every call")


def test_a_number_needs_nothing_only_when_further_values_were_free() -> None:
    def seen(*numbers: int, kind: str = "int") -> Entry:
        values = ({"n": ValueSpec(kind, kind, value=str(number))} for number in numbers)
        return Entry("f", dynamic="None", arguments=tuple(map(ArgumentsSeen, values)))

    facts = {"kind": "value", "source_name": "n", "guard": "n == 1", "values": ("1",)}
    assert _remedy(seen(1, 2, 3), **facts).settled
    assert not _remedy(seen(1, 2), **facts).settled
    assert not _remedy(seen(1, 2, 3, kind="str"), **facts).settled


@pytest.mark.parametrize("kind", RECOMPILE_KINDS)
def test_every_kind_has_advice_once_the_limit_is_hit(kind: str) -> None:
    remedy = _remedy(DEFAULT, kind=kind, limit_hit=True, source_name="", guard="g", values=())
    assert (remedy.action, remedy.commands) == ("advice", ("gbfix explain recompiles",))
    assert not remedy.text.startswith("Nothing has to be done")


def test_training_and_evaluation_need_nothing() -> None:
    assert _remedy(DEFAULT, kind="global_state", guard="GLOBAL_STATE changed: grad_mode", source_name="").settled
    assert _remedy(DEFAULT, kind="requires_grad", guard="requires_grad mismatch").settled


def test_a_wrapper_of_pytorch_is_left_alone_until_it_reaches_the_limit() -> None:
    wrapper = Place("/venv/lib/python3.11/site-packages/torch/_dynamo/external_utils.py", 67, "inner")
    assert _remedy(DEFAULT, place=wrapper, kind="length", source_name="args").settled
    assert "above torch.compile" in _remedy(DEFAULT, place=wrapper, kind="length", limit_hit=True).text
