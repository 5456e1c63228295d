"""What a running frame holds."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import torch

from gbfix.evidence.candidates import Candidate
from gbfix.evidence.frame_values import aliases, function_name, read_frame

SCALE = 2.0
WEIGHT = torch.ones(3)


def frame() -> FrameType:
    return sys._getframe(1)


def read(of: FrameType, names: str, *paths: str) -> Any:
    return read_frame(of, Candidate(1, frozenset(names.split()), paths))


def test_mentioned_names_have_values_and_others_only_their_kind() -> None:
    number, text, items, flag, x = 3, "a", [1], True, torch.ones(2)
    values = read(frame(), "number x")["values"]
    assert values["number"] == {"kind": "int", "type": "int", "value": "3"}
    assert values["text"] == {"kind": "str", "type": "str"}
    assert values["items"] == {"kind": "list", "type": "list"}
    assert values["flag"]["value"] == "True"
    assert values["x"]["tensor"]["shape"] == [2]
    assert (number, text, items, flag, len(x)) == (3, "a", [1], True, 2)


def test_globals_and_paths() -> None:
    net = torch.nn.Linear(2, 2)
    values = read(frame(), "SCALE WEIGHT pytest sys net", "net.weight", "net.absent", "sys.path")["values"]
    assert values["SCALE"]["value"] == "2.0"
    assert values["WEIGHT"]["tensor"]["shape"] == [3]
    assert values["net.weight"]["tensor"]["requires_grad"] is True
    assert set(values) == {"net", "SCALE", "WEIGHT", "net.weight"}
    assert net.training


def test_aliases_are_objects_and_shared_storage() -> None:
    x, items = torch.ones(4), [1]
    view, same, other, one, two = x[:2], items, torch.ones(4), 1, 1
    found = read(frame(), "x")["aliases"]
    assert found == [["items", "same"], ["view", "x"]]
    assert (view.shape, same, other.shape, one, two) == ((2,), items, (4,), 1, 1)


def test_groups_with_an_identity_in_common_are_one() -> None:
    one, two, three = ("object", 1), ("object", 2), ("object", 3)
    assert aliases({"a": {one}, "b": {two}, "c": {one, two}, "d": {three}}) == [["a", "b", "c"]]


def test_gradient_mode() -> None:
    assert read(frame(), "")["grad_enabled"] is True
    with torch.no_grad():
        assert read(frame(), "")["grad_enabled"] is False


class Outer:
    def method(self) -> Any:
        return (lambda: frame().f_code)()


def test_names_of_functions() -> None:
    names = function_name(Outer().method())
    assert names == ("Outer.method.<locals>.<lambda>" if sys.version_info >= (3, 11) else "<lambda>")
    code = Outer.method.__code__
    resumed = code.replace(co_name="torch_dynamo_resume_in_method_at_3")
    if sys.version_info >= (3, 11):
        resumed = resumed.replace(co_qualname="Outer.torch_dynamo_resume_in_method_at_3")
    assert function_name(resumed) == ("Outer.method" if sys.version_info >= (3, 11) else "method")
