"""The facts of values, real and traced; no code of the program runs for them."""

from __future__ import annotations

import collections
import json
from typing import Any, ClassVar

import msgspec
import pytest
import torch

from gbfix.analysis.observations import ValueSpec
from gbfix.evidence.describe import Unrealized, describe, describe_variable, source_text, storage_of

Pair = collections.namedtuple("Pair", "left right")


def tensor(value: object) -> Any:
    return describe(value)["tensor"]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [(True, "bool", "True"), (3, "int", "3"), (0.5, "float", "0.5"), (1j, "complex", "1j"), ("a'b", "str", '"a\'b"')],
)
def test_a_scalar_shows_its_value(value: object, kind: str, text: str) -> None:
    assert describe(value) == {"kind": kind, "type": kind, "value": text}


def test_none() -> None:
    assert describe(None) == {"kind": "none", "type": "None", "value": "None"}


def test_a_long_text_is_cut_and_says_so() -> None:
    assert describe("x" * 1000) == {"kind": "str", "type": "str", "value": repr("x" * 200), "length": 1000}


@pytest.mark.parametrize("digits", [500, 9000])
def test_a_huge_number_has_no_value(digits: int) -> None:
    assert describe(10**digits) == {"kind": "int", "type": "int"}


def test_a_tensor() -> None:
    value = torch.ones(4, 6, dtype=torch.float64, requires_grad=True)[:, ::2]
    facts = {"dtype": "float64", "shape": [4, 3], "stride": [6, 2], "device": "cpu", "requires_grad": True}
    assert describe(value) == {"kind": "tensor", "type": "torch.Tensor", "tensor": facts}


def test_a_parameter_and_another_device() -> None:
    assert describe(torch.nn.Parameter(torch.ones(2)))["type"] == "torch.nn.parameter.Parameter"
    assert tensor(torch.ones(2, device="meta"))["device"] == "meta"


@pytest.mark.filterwarnings("ignore")
def test_tensors_without_strides() -> None:
    assert tensor(torch.eye(3).to_sparse())["stride"] == []
    assert tensor(torch.eye(3).to_sparse_csr())["shape"] == [3, 3]


@pytest.mark.filterwarnings("ignore")
def test_nested_tensors() -> None:
    parts = [torch.ones(2), torch.ones(3)]
    assert describe(torch.nested.nested_tensor(parts)) == {"kind": "tensor", "type": "torch.Tensor"}
    assert tensor(torch.nested.nested_tensor(parts, layout=torch.jagged))["shape"][0] == 2


@pytest.mark.filterwarnings("ignore")
def test_a_quantized_tensor() -> None:
    assert tensor(torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8))["dtype"] == "qint8"


def test_functorch_wrappers_do_not_break_it() -> None:
    seen: list[dict[str, object]] = []
    torch.func.vmap(lambda x: seen.append(describe(x)) or x)(torch.ones(2, 3))
    assert seen[0]["kind"] == "tensor"


def test_a_fake_tensor_is_described_as_what_it_stands_for() -> None:
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(2, 3, device="cuda")
    facts = describe(fake)
    assert facts["type"] == "torch.Tensor"
    assert (tensor(fake)["shape"], tensor(fake)["device"]) == ([2, 3], "cuda:0")


def test_symbolic_sizes_are_text() -> None:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = torch._subclasses.FakeTensorMode(shape_env=ShapeEnv())
    fake = mode.from_tensor(torch.ones(5, 3), static_shapes=False)
    names = tensor(fake)["shape"]
    assert all(isinstance(name, str) and name.startswith("s") for name in names)
    assert tensor(fake)["stride"] == [names[1], 1]
    assert len(mode.shape_env.guards) == 0
    assert describe(fake.shape[0]) == {"kind": "int", "type": "int"}


class Spy:
    """Tells when any of its code is run."""

    runs: ClassVar[list[str]] = []

    def __getattribute__(self, name: str) -> Any:
        Spy.runs.append(name)
        return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return str(Spy.runs.append("repr"))

    def __len__(self) -> int:
        Spy.runs.append("len")
        return 1

    @property
    def __class__(self) -> type:  # type: ignore[override]
        Spy.runs.append("class")
        return list


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        Spy.runs.append(name)
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, instance: object) -> bool:
        Spy.runs.append("instance")
        return False


class SpyList(list[int], metaclass=Meta):
    def __iter__(self) -> Any:
        Spy.runs.append("iter")
        return iter(())

    def __len__(self) -> int:
        Spy.runs.append("len")
        return 0


class SpyTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *arguments: Any, **named: Any) -> Any:
        Spy.runs.append("torch function")
        return super().__torch_function__(*arguments, **named)

    @property
    def dtype(self) -> Any:
        return Spy.runs.append("dtype")


class SpyDispatch(torch.Tensor):
    @staticmethod
    def __new__(cls: type, inner: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dispatch_sizes_strides_policy="sizes")

    @classmethod
    def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
        Spy.runs.append("dispatch")
        raise NotImplementedError


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function: Any, _types: Any, arguments: Any = (), named: Any = None) -> Any:
        Spy.runs.append("mode")
        return function(*arguments, **(named or {}))


def test_no_code_of_the_program_runs() -> None:
    values = [Spy(), SpyList([1, 2]), torch.ones(2).as_subclass(SpyTensor), SpyDispatch(torch.ones(2))]
    Spy.runs.clear()
    with Mode():
        found = [describe(value) for value in values]
        storages = [storage_of(value) for value in values]
    assert Spy.runs == []
    assert [facts["kind"] for facts in found] == ["object", "list", "tensor", "tensor"]
    assert (found[1]["length"], found[2]["tensor"]["dtype"]) == (2, "float32")  # type: ignore[index]
    assert "tensor" not in found[3]
    assert [storage is None for storage in storages] == [True, True, False, True]


def test_containers_are_followed_two_levels_down_and_eight_items_far() -> None:
    facts: Any = describe({"a": [1, (2, [3])], 5: None, (1,): 2, **{f"k{n}": n for n in range(10)}})
    items = dict(facts["items"])
    assert (facts["kind"], facts["length"], len(items)) == ("dict", 13, 8)
    assert list(items)[:4] == ["a", "5", "<tuple>", "k0"]
    assert items["a"]["items"][1] == ["1", {"kind": "tuple", "type": "tuple", "length": 2}]


def test_kinds_of_containers() -> None:
    assert describe(Pair(1, 2))["kind"] == "tuple"
    assert describe(torch.Size([2, 3]))["type"] == "torch.Size"
    assert describe(collections.OrderedDict(a=1))["type"] == "collections.OrderedDict"
    loop: list[Any] = []
    loop.append(loop)
    json.dumps(describe(loop))


def test_an_iterator_is_not_consumed() -> None:
    numbers = iter([1, 2])
    assert describe(numbers) == {"kind": "object", "type": "list_iterator"}
    assert list(numbers) == [1, 2]


def test_a_module_shows_whether_it_trains() -> None:
    facts: Any = describe(torch.nn.Linear(2, 2).eval())
    assert (facts["kind"], facts["type"]) == ("module", "torch.nn.modules.linear.Linear")
    assert facts["items"] == [["training", {"kind": "bool", "type": "bool", "value": "False"}]]


def test_storage_is_shared_by_views_only() -> None:
    x = torch.ones(4)
    assert storage_of(x) == storage_of(x.view(2, 2)) != storage_of(x.clone())
    assert storage_of(3) is None
    assert storage_of(torch.eye(2).to_sparse()) is None


def test_the_facts_are_a_value_spec() -> None:
    for value in (1, "x" * 500, torch.ones(2), [torch.ones(2), {"k": None}], torch.nn.ReLU(), object()):
        assert msgspec.convert(json.loads(json.dumps(describe(value))), ValueSpec).kind == describe(value)["kind"]


class Traced(torch.nn.Module):
    def forward(self, x: torch.Tensor, options: dict[str, Any], number: int, text: str) -> torch.Tensor:  # noqa: ARG002
        y = x[:, 0]
        made = {**options, "y": y, 3: number}
        pair = Pair(y, [number])
        size = x.size()
        spread = range(number)
        self.probe()
        return y + len(made) + len(pair) + size[0] + len(spread) + number

    def probe(self) -> None:
        return None


def test_what_dynamo_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    seen: list[dict[str, dict[str, Any]]] = []
    waiting: list[Unrealized] = []
    original = InstructionTranslatorBase.run

    def run(translator: Any) -> None:
        if translator.f_code.co_name == "probe":
            held = translator.parent.symbolic_locals
            seen.append({name: describe_variable(value, unrealized=waiting) for name, value in held.items()})
        original(translator)

    monkeypatch.setattr(InstructionTranslatorBase, "run", run)
    function = torch.compile(Traced(), backend="eager")
    function(torch.ones(4, 3), {"a": torch.ones(2)}, 2, "text")
    first = seen[0]
    assert first["y"]["tensor"] == {
        "dtype": "float32",
        "shape": [4],
        "stride": [3],
        "device": "cpu",
        "requires_grad": False,
    }
    made = dict(first["made"]["items"])
    assert list(made) == ["a", "y", "3"]
    assert made["y"] == first["y"]
    assert (first["pair"]["kind"], first["size"]["type"]) == ("tuple", "torch.Size")
    assert first["spread"]["kind"] == "object"
    assert first["text"] == {"kind": "str", "type": "str", "value": "'text'"}
    assert not next(one for one in waiting if one.facts is first["text"]).refresh()
    function(torch.ones(5, 3), {"a": torch.ones(2)}, 3, "text")
    last = seen[-1]
    assert isinstance(last["y"]["tensor"]["shape"][0], str)
    assert json.loads(json.dumps(last)) == last


def test_a_source_without_a_text_is_none_and_ends_nothing() -> None:
    """What the stack of a caller held at a break has a source that raises when it is asked for its name."""
    from torch._dynamo.source import LocalSource, TempLocalSource

    assert source_text(TempLocalSource("stack0")) == ""
    assert source_text(LocalSource("x")) == "L['x']"
