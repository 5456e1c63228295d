"""Any value as plain data: bits, types, identity, memory, and nothing of the value called or consumed."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import logging
import pickle
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from gbfix.equivalence.describe import describe, tensors_in
from gbfix.equivalence.identity import Names
from gbfix.equivalence.model import Described, TensorFacts
from gbfix.equivalence.tensor_facts import raw_bytes


def facts(tensor: torch.Tensor) -> TensorFacts:
    described = describe(tensor, "result")
    assert described.tensor is not None
    return described.tensor


def item(described: Described, *keys: str) -> Described:
    for key in keys:
        described = dict(described.items)[key]
    return described


def test_a_tensor_bit_for_bit() -> None:
    found = facts(torch.tensor([[1.0, -0.0], [float("nan"), 2.0]]).t())
    assert (found.dtype, found.shape, found.strides, found.device) == ("float32", (2, 2), (1, 2), "cpu")
    assert found.data == numpy.array([1.0, float("nan"), -0.0, 2.0], dtype="float32").tobytes()
    assert (found.requires_grad, found.is_leaf, found.layout) == (False, True, "strided")


DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16]
DTYPES += [torch.float32, torch.float64, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_raw_bytes_of_every_dtype(dtype: torch.dtype) -> None:
    tensor = torch.tensor([0.0, 1.0, 2.0]).to(dtype)
    assert raw_bytes(tensor) == bytes(tensor.view(torch.uint8).tolist())
    assert raw_bytes(tensor[1]) == raw_bytes(tensor)[dtype.itemsize : 2 * dtype.itemsize]
    assert raw_bytes(tensor[:0]) == b""


def test_lazy_bits_are_resolved() -> None:
    one = torch.tensor([1 + 2j])
    assert raw_bytes(one.conj()) == raw_bytes(torch.tensor([1 - 2j]))
    assert raw_bytes(one.conj().imag) == raw_bytes(torch.tensor([-2.0]))


class Plain(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *arguments: Any, **named: Any) -> Any:
        raise AssertionError("code of the program runs")


def test_a_subclass_is_described_without_its_code() -> None:
    tensor = torch.ones(2)._make_subclass(Plain, torch.ones(2))
    described = describe(tensor, "result")
    assert described.type.endswith("describe.Plain")
    assert described.tensor is not None
    assert described.tensor.data == raw_bytes(torch.ones(2))


def test_tensors_without_plain_memory() -> None:
    one = torch.tensor([[0.0, 3.0]])
    assert facts(one.to_sparse()).data == raw_bytes(one)
    assert facts(one.to_sparse()).layout == "sparse_coo"
    assert facts(one.to("meta")).data == b""
    pieces = [torch.ones(2), torch.ones(3)]
    for layout in (torch.strided, torch.jagged):
        assert len(facts(torch.nested.nested_tensor(pieces, layout=layout)).data) >= 20
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(3)
    assert facts(fake).shape == (3,)
    assert facts(torch._to_functional_tensor(torch.ones(3))).shape == (3,)


def test_nothing_is_disturbed_by_a_default_device_or_dtype() -> None:
    try:
        torch.set_default_device("meta")
        torch.set_default_dtype(torch.float16)
        before = torch.get_rng_state()
        x = torch.ones(4, device="cpu")
        names = Names()
        names.add(x, "x")
        assert describe([x[::2], x[1::2]], "result", names).items[0][1].shares == ("x",)
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    assert torch.equal(before, torch.get_rng_state())


def test_large_tensors_are_described_by_a_digest() -> None:
    described = describe(torch.zeros(100), "result", limit=399)
    assert described.text == "digest"
    assert described.tensor is not None
    assert len(described.tensor.data) == 16
    assert described != describe(torch.ones(100), "result", limit=399)


class Color(enum.Enum):
    RED = object()


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1, "int", "1"),
        (True, "bool", "True"),
        (-0.0, "float", "-0.0"),
        (0.1 + 0.2, "float", "0.30000000000000004"),
        (float("nan"), "float", "nan"),
        (1j, "complex", "1j"),
        ("a\n", "str", r"'a\n'"),
        (b"a", "bytes", "b'a'"),
        (None, "NoneType", "None"),
        (slice(1, None), "slice", "slice(1, None, None)"),
        (range(3), "range", "range(0, 3)"),
        (torch.float16, "torch.dtype", "torch.float16"),
        (torch.device("cpu"), "torch.device", "device(type='cpu')"),
        (torch.Size([2, 3]), "torch.Size", "torch.Size([2, 3])"),
        (Color.RED, f"{__name__}.Color", "Color.RED"),
        (numpy.float32(1.5), "numpy.float32", "np.float32(1.5)"),
    ],
    ids=str,
)
def test_scalars(value: Any, kind: str, text: str) -> None:
    assert describe(value, "result") == Described("scalar", kind, text=text)


class Loud:
    def __init__(self) -> None:
        self.kept = [1]

    def __repr__(self) -> str:
        raise AssertionError("repr is asked for")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        raise AssertionError("iterated")

    @property
    def computed(self) -> int:
        raise AssertionError("a property is read")


class LoudList(list[int]):
    def __iter__(self) -> Any:
        raise AssertionError("iterated")


class LoudDict(dict[str, int]):
    def items(self) -> Any:
        raise AssertionError("items is called")


def test_no_code_of_the_value_runs() -> None:
    assert item(describe(Loud(), "result"), "kept", "0").text == "1"
    assert item(describe(LoudList([1]), "result"), "0").text == "1"
    assert item(describe(LoudDict(a=1), "result"), "'a'").text == "1"


def test_an_iterator_is_not_consumed() -> None:
    numbers = iter([1, 2])
    generator = (number for number in (1, 2))
    for value in (numbers, generator, map(str, [1, 2])):
        assert describe(value, "result").kind == "opaque"
        assert len(list(value)) == 2


def test_things_of_the_system_are_only_named() -> None:
    values = [object(), threading.Lock(), logging.getLogger("a"), sys.stdout, weakref.ref(Color), len, time]
    for value in values:
        described = describe(value, "result")
        assert described.kind == "opaque"
        assert "0x" not in described.text


def test_a_function_is_its_name_and_what_it_holds_on_to() -> None:
    def function() -> Any:
        return function, Color

    described = describe(function, "result")
    assert (described.kind, described.text.rpartition(".")[2]) == ("function", "function")
    assert item(described, "function").same_as == "result"
    assert describe(torch.no_grad()(function), "result").items == ()
    assert describe(torch.compile(function), "result").items == ()


def test_containers_keep_their_class_order_and_keys() -> None:
    described = describe(collections.OrderedDict(b=1, a=(2, [3])), "result")
    assert (described.kind, described.type) == ("container", "collections.OrderedDict")
    assert [key for key, _ in described.items] == ["'b'", "'a'"]
    assert item(described, "'a'", "1", "0").text == "3"
    assert [key for key, _ in describe(torch.max(torch.ones(1, 2), 1), "result").items] == ["0", "1"]


@dataclasses.dataclass
class Node:
    value: Any
    next: Any = None


def test_exceptions_partial_functions_and_paths() -> None:
    assert item(describe(ValueError("bad", 2), "result"), "args", "1").text == "2"
    assert item(describe(functools.partial(max, 1, key=len), "result"), "keywords", "'key'").text == "builtins.len"
    path = Path("a") / "b"
    before = describe(path, "result")
    assert "a/b" in before.text
    hash(path), str(path)
    assert describe(path, "result") == before


def test_a_cycle_ends() -> None:
    node = Node(1)
    node.next = Node(2, node)
    assert item(describe(node, "result"), "next", "next") == Described("same", f"{__name__}.Node", same_as="result")
    held: list[Any] = []
    held.append(held)
    assert item(describe(held, "result"), "0").same_as == "result"


def test_depth_and_width_end() -> None:
    node: Any = None
    for number in range(5000):
        node = Node(number, node)
    described = describe(node, "result")
    pickle.dumps(described)
    wide = describe([[number] for number in range(100_000)], "result")
    assert wide.items[-1] == ("number_of_items", Described("scalar", "int", text="100000"))
    assert wide.items[-2][1].kind == "opaque"
    assert len(tensors_in(node, "result")) == 0


def test_identity_and_memory() -> None:
    x = torch.ones(4, 2)
    names = Names()
    names.add(x, "x")
    y = x * 2
    described = describe({"same": x, "view": x[1:], "new": y, "again": y, "part": y[0]}, "result", names)
    assert item(described, "'same'").same_as == "x"
    assert item(described, "'same'").shares == ()
    assert item(described, "'view'").shares == ("x",)
    assert (item(described, "'new'").same_as, item(described, "'new'").shares) == ("", ())
    assert item(described, "'again'") == Described("same", "torch.Tensor", same_as="result['new']")
    assert item(described, "'part'").shares == ("result['new']",)


def test_neighbours_in_memory_share_nothing() -> None:
    base = torch.arange(12.0)
    names = Names()
    names.add(base[:6], "low")
    names.add(base[::2], "even")
    for view, shares in ((base[6:7], ("even",)), (base[1::2], ("low",)), (base[7::2], ()), (base[7:7], ())):
        assert describe(view, "result", names).shares == shares
    grid = base.reshape(3, 4)
    names.add(grid[:, :2], "left")
    assert "left" not in describe(grid[:, 2:], "result", names).shares
    assert "left" in describe(grid[:, 1:], "result", names).shares
    assert "left" in describe(base[:1].expand(5), "result", names).shares


def test_a_module_is_its_parameters_buffers_attributes_and_hooks() -> None:
    module = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2, bias=False))
    module.scale = [1.0]
    module[1].register_forward_hook(lambda *_: None)
    described = describe(module, "self")
    assert (described.kind, described.type) == ("module", "torch.nn.modules.container.Sequential")
    assert item(described, "0", "running_mean").tensor is not None
    assert item(described, "0", "training").text == "True"
    assert item(described, "1", "bias").text == "None"
    assert item(described, "scale", "0").text == "1.0"
    assert item(described, "1", "number_of_hooks").text == "1"
    assert not [key for key, _ in described.items if key.startswith("_")]
    module.register_buffer("kept", torch.ones(1))
    module.register_buffer("left", torch.ones(1), persistent=False)
    assert item(describe(module, "self"), "buffers_not_saved").items[0][1].text == "'left'"
    module.register_buffer("_calls", torch.tensor(3), persistent=False)
    assert item(describe(module, "self"), "_calls").text == "3"
    assert len(item(describe(module, "self"), "buffers_not_saved").items) == 1
    tied = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    assert item(describe(tied, "self"), "1", "weight").same_as == "self[0].weight"


def test_a_compiled_module_is_the_module() -> None:
    module = torch.nn.Linear(2, 2)
    assert describe(torch.compile(module, backend="eager"), "self") == describe(module, "self")


def test_the_order_of_a_set_does_not_matter() -> None:
    one, other = set([0, 8]), set([8, 0])  # noqa: C405  (a display would be a constant, ordered by the compiler)
    assert list(one) != list(other)
    assert describe(one, "result") == describe(other, "result")


def test_a_generator_of_random_numbers_is_its_state() -> None:
    one, other = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    assert describe(one, "g") == describe(other, "g")
    torch.rand(1, generator=other)
    assert describe(one, "g") != describe(other, "g")
    drawn = numpy.random.default_rng(1)
    before = describe(drawn, "g")
    drawn.random()
    assert describe(drawn, "g") != before


def test_a_number_behind_a_property_is_one_of_its_name() -> None:
    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("_steps", torch.tensor(2), persistent=False)

        @property
        def steps(self) -> int:
            return int(self._steps)

    plain = torch.nn.Module()
    plain.steps = 2
    held, number = describe(Counting(), "self"), describe(plain, "self")
    assert sorted(key for key, _ in held.items) == sorted(key for key, _ in number.items)
    assert item(held, "steps") == item(number, "steps")
