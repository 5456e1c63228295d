"""The examples of a check: where they come from, what they contain, and what is learned of the original."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis import strategies as st

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.equivalence.example import Constant, Example, Listed, SameAs, TensorRecipe
from gbfix.equivalence.model import CheckError, Parameter, Settings, Setup
from gbfix.equivalence.recipes import build, call_text
from gbfix.equivalence.strategies import Inputs, given_inputs, inputs_for
from gbfix.evidence.model import ArgumentsSeen

BY_POSITION = "POSITIONAL_OR_KEYWORD"


def parameter(name: str, annotation: str = "", default: str | None = None, kind: str = BY_POSITION) -> Parameter:
    return Parameter(name, kind, annotation, required=default is None and not kind.startswith("VAR_"), default=default)


def setup(*parameters: Parameter, module: bool = False) -> Setup:
    return Setup(parameters, module=module)


def seen(calls: int = 1, **values: ValueSpec) -> ArgumentsSeen:
    return ArgumentsSeen(values, calls)


def tensor(*shape: int | str, dtype: str = "float32", stride: Sequence[int] = (), grad: bool = False) -> ValueSpec:
    strides = tuple(stride) or tuple(torch.empty([n for n in shape if isinstance(n, int)], device="meta").stride())
    return ValueSpec("tensor", "torch.Tensor", TensorSpec(dtype, shape, strides, "cpu", grad))


def scalar(value: object) -> ValueSpec:
    kind = "none" if value is None else type(value).__name__
    return ValueSpec(kind, kind, value=repr(value))


TWO_TENSORS = setup(parameter("x", "torch.Tensor"), parameter("y", "Tensor"), parameter("n", "int"))


def drawn(inputs: Inputs, count: int = 200) -> list[Example]:
    found: list[Example] = []

    @seed(0)
    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(inputs.strategy())
    def collect(example: Example) -> None:
        found.append(example)

    collect()
    return found


@pytest.fixture(scope="module")
def two_hundred() -> list[Example]:
    return drawn(inputs_for(TWO_TENSORS, (), Settings()))


def tensors(example: Example, parameters: Sequence[Parameter]) -> dict[str, torch.Tensor]:
    args, kwargs = build(example, parameters, "cpu")
    names = [p.name for p in parameters]
    found = {**dict(zip(names, args, strict=False)), **kwargs}
    return {name: value for name, value in found.items() if isinstance(value, torch.Tensor)}


def recipe(example: Example, name: str) -> TensorRecipe:
    found = dict(example.arguments)[name]
    assert isinstance(found, TensorRecipe)
    return found


def number(example: Example, name: str) -> object:
    found = dict(example.arguments)[name]
    assert isinstance(found, Constant)
    return found.value


def shapes(example: Example) -> dict[str, tuple[int, ...]]:
    return {name: made.shape for name, made in example.arguments if isinstance(made, TensorRecipe)}


def variation(inputs: Inputs, name: str) -> Example:
    return dict(inputs.variations())[name]


# -- annotations ------------------------------------------------------------------------------------


def test_the_first_call_is_ordinary() -> None:
    inputs = inputs_for(TWO_TENSORS, (), Settings())
    first = inputs.first()
    made = tensors(first, TWO_TENSORS.parameters)
    assert inputs.origin == "annotations"
    assert set(made) == {"x", "y"}
    for value in made.values():
        assert (value.dtype, value.shape, value.is_contiguous(), value.requires_grad) == (
            torch.float32,
            (2, 3),
            True,
            False,
        )
        assert torch.isfinite(value).all()
        assert (value != 0).all()
    assert not torch.equal(made["x"], made["y"])
    assert number(first, "n") == 2
    assert first.grad_enabled
    assert first.training is None


def test_every_variation_alters_the_first_call_and_can_be_built() -> None:
    inputs = inputs_for(TWO_TENSORS, (), Settings())
    names = [name for name, _ in inputs.variations()]
    assert len(names) == len(set(names))
    for name, example in inputs.variations():
        assert repr(example) != repr(inputs.first()), name
        build(example, TWO_TENSORS.parameters, "cpu")
    assert {
        "float16",
        "bfloat16",
        "int64",
        "bool",
        "size 0 of x[0]",
        "size 1 of x[0]",
        "other size of x[0]",
        "large size of x[0]",
        "transposed x",
        "expanded x",
        "sliced x",
        "requires grad",
        "y is x",
        "y is a view of x",
        "rank 3",
        "n=-1",
        "n=0",
    } <= set(names)


def _any(test: Callable[[torch.Tensor], Any]) -> Callable[[Example], bool]:
    return lambda example: any(bool(test(value)) for value in tensors(example, TWO_TENSORS.parameters).values())


def _floating(test: Callable[[torch.Tensor], Any]) -> Callable[[Example], bool]:
    return _any(lambda value: value.is_floating_point() and value.numel() and bool(test(value.detach())))


def _tiny(value: torch.Tensor) -> bool:
    return bool(((value != 0) & (value.abs() < torch.finfo(value.dtype).smallest_normal)).any())


FEATURES: dict[str, tuple[Callable[[Example], bool], int]] = {
    "size 0": (_any(lambda v: v.numel() == 0), 2),
    "size 1": (_any(lambda v: 1 in v.shape), 3),
    "odd size": (_any(lambda v: any(size % 2 and size > 1 for size in v.shape)), 60),
    "large size": (_any(lambda v: max(v.shape, default=0) > 200), 2),
    "rank 1": (_any(lambda v: v.dim() == 1), 2),
    "rank 3": (_any(lambda v: v.dim() == 3), 2),
    "NaN": (_floating(lambda v: v.isnan().any()), 8),
    "inf": (_floating(lambda v: v.isinf().any()), 6),
    "-0.0": (_floating(lambda v: ((v == 0) & v.signbit()).any()), 4),
    "denormal": (_floating(_tiny), 4),
    "extreme": (_floating(lambda v: (v.abs() == torch.finfo(v.dtype).max).any()), 4),
    "all equal": (_floating(lambda v: v.numel() > 1 and (v == v.flatten()[0]).all()), 4),
    "large mean": (_floating(lambda v: v.double().mean() > 100), 20),
    "small elements": (_floating(lambda v: v.abs().max() < 1e-3), 8),
    "negative sum": (_floating(lambda v: v.double().sum() < 0), 60),
    "positive sum": (_floating(lambda v: v.double().sum() > 0), 60),
    "float16": (_any(lambda v: v.dtype == torch.float16), 3),
    "bfloat16": (_any(lambda v: v.dtype == torch.bfloat16), 1),
    "integer": (_any(lambda v: not v.is_floating_point() and v.dtype != torch.bool), 2),
    "bool": (_any(lambda v: v.dtype == torch.bool), 1),
    "non-contiguous": (_any(lambda v: v.numel() > 1 and not v.is_contiguous()), 8),
    "expanded": (_any(lambda v: 0 in v.stride() and v.numel() > 0), 2),
    "transposed": (lambda e: any(getattr(r, "layout", "") == "transposed" for _, r in e.arguments), 1),
    "same object": (lambda e: ("y", SameAs("x")) in e.arguments, 2),
    "same memory": (lambda e: ("y", SameAs("x", True)) in e.arguments, 2),
    "requires grad": (_any(lambda v: v.requires_grad), 50),
    "no grad": (_any(lambda v: not v.requires_grad), 80),
    "grad mode off": (lambda e: not e.grad_enabled, 12),
    "negative n": (lambda e: isinstance(number(e, "n"), int) and str(number(e, "n")).startswith("-"), 4),
    "n is 0": (lambda e: number(e, "n") == 0, 2),
}


def test_two_hundred_examples_contain_every_feature(two_hundred: list[Example]) -> None:
    counts = Counter(name for example in two_hundred for name, (test, _) in FEATURES.items() if test(example))
    missing = {name: (counts[name], least) for name, (_, least) in FEATURES.items() if counts[name] < least}
    assert not missing


def test_most_examples_have_ordinary_elements_and_few_repeat(two_hundred: list[Example]) -> None:
    found = two_hundred
    finite = sum(
        all(torch.isfinite(value).all() for value in tensors(example, TWO_TENSORS.parameters).values())
        for example in found
    )
    assert finite >= 0.7 * len(found)
    assert len({repr(example) for example in found}) >= 0.95 * len(found)


def test_no_example_is_large() -> None:
    parameters = [parameter(name, "Tensor") for name in "abcd"]
    for example in drawn(inputs_for(setup(*parameters), (), Settings()), 100):
        assert sum(math.prod(shape) for shape in shapes(example).values()) <= 100_000


def test_examples_shrink_to_what_a_person_likes() -> None:
    inputs = inputs_for(TWO_TENSORS, (), Settings())

    def has_nan(example: Example) -> bool:
        return bool(tensors(example, TWO_TENSORS.parameters)["x"].isnan().any())

    zeros = ", ".join(["0.0"] * 6)
    quiet = settings(database=None, max_examples=300, deadline=None)
    assert call_text(find(inputs.strategy(), lambda _: True, settings=quiet)) == (
        f"x=float32[2, 3] [{zeros}], y=float32[2, 3] [{zeros}], n=2"
    )
    shrunk = find(inputs.strategy(), has_nan, settings=quiet, random=Random(0))
    x, y = recipe(shrunk, "x"), recipe(shrunk, "y")
    assert (x.dtype, x.layout, x.requires_grad, shrunk.grad_enabled) == ("float32", "contiguous", False, True)
    assert math.prod(x.shape) <= 6
    assert set(getattr(y.values, "numbers", ())) == {0.0}


def test_corners_are_at_most_forty_and_begin_with_the_first_call() -> None:
    inputs = inputs_for(TWO_TENSORS, (), Settings())
    corners = inputs.corners()
    assert corners[0] == inputs.first()
    assert len(corners) <= 40
    for name in ("size 0", "size 1", "large size", "NaN", "inf", "-0.0", "denormal", "extreme", "all equal", "float16"):
        assert any(FEATURES[name][0](example) for example in corners), name
    for name in ("bfloat16", "integer", "non-contiguous", "expanded", "transposed", "same object", "requires grad"):
        assert any(FEATURES[name][0](example) for example in corners), name
    assert any(not example.grad_enabled for example in corners)
    assert len({repr(example) for example in corners}) == len(corners)


def test_masks_are_all_true_all_false_and_mixed() -> None:
    known = setup(parameter("x", "Tensor"), parameter("mask", "Tensor"))
    inputs = inputs_for(known, (), Settings())
    for examples in (inputs.corners(), drawn(inputs, 100)):
        masks = [tensors(example, known.parameters)["mask"] for example in examples]
        kinds = {frozenset(mask.flatten().tolist()) for mask in masks if mask.dtype == torch.bool}
        assert {frozenset({True}), frozenset({False}), frozenset({True, False})} <= kinds


def test_modules_are_trained_evaluated_and_initialised_anew() -> None:
    inputs = inputs_for(setup(parameter("x", "Tensor"), module=True), (), Settings())
    assert inputs.first().training is True
    for examples in (inputs.corners(), drawn(inputs, 60)):
        assert {example.training for example in examples} == {True, False}
        assert {example.module_seed for example in examples} > {0}


def test_what_the_original_does_not_take_is_rare() -> None:
    inputs = inputs_for(TWO_TENSORS, (), Settings())
    taken = [name for name, _ in inputs.variations() if name.startswith(("other size", "requires", "n=", "float"))]
    learned = inputs.accepting(taken)
    found = drawn(learned, 150)
    share = sum(map(_is_beyond, found)) / len(found)
    assert 0.02 <= share <= 0.16
    assert not any(map(_is_beyond, learned.corners()))
    assert any("float16" in _dtypes(example) for example in learned.corners())


def _is_beyond(example: Example) -> bool:
    """With something that was not among the taken variations: other sizes, gradients, numbers and floating dtypes."""
    x, y = (dict(example.arguments)[name] for name in "xy")
    if not isinstance(x, TensorRecipe) or not isinstance(y, TensorRecipe):
        return True
    sizes = {*x.shape, *y.shape}
    plain = {x.layout, y.layout} == {"contiguous"} and all("float" in dtype for dtype in (x.dtype, y.dtype))
    return not plain or x.shape != y.shape or len(x.shape) != 2 or bool(sizes & {0, 1, 257})


def _dtypes(example: Example) -> list[str]:
    return [made.dtype for _, made in example.arguments if isinstance(made, TensorRecipe)]


def test_another_first_call_for_a_target_that_does_not_take_the_first() -> None:
    inputs = inputs_for(TWO_TENSORS, (), Settings())
    other = inputs.starting_from(["size 0 of x[0]", "rank 3", "y is x"])
    assert shapes(other.first()) == {"x": (4, 2, 3), "y": (4, 2, 3)}
    assert "rank 3" not in dict(other.variations())
    assert inputs.starting_from([]) is inputs


def test_the_sequence_has_other_values_and_other_shapes() -> None:
    first, values, other = inputs_for(TWO_TENSORS, (), Settings()).sequence()
    assert shapes(first) == shapes(values) != shapes(other)
    assert first != values


def test_only_the_dtype_that_was_asked_for() -> None:
    mask = parameter("bias", "list[Tensor] | Tensor | None", default="None")
    inputs = inputs_for(setup(*TWO_TENSORS.parameters, mask), (), Settings(dtype="bfloat16"))
    for example in (inputs.first(), *inputs.corners(), *drawn(inputs, 50)):
        assert not {"float32", "float64", "float16"} & set(repr(example).split("'"))


def test_parameters_with_defaults_are_given_and_left_out() -> None:
    known = setup(
        parameter("x", "Tensor"), parameter("scale", "float", default="0.5"), parameter("mask", default="None")
    )
    inputs = inputs_for(known, (), Settings())
    assert [name for name, _ in inputs.first().arguments] == ["x"]
    found = [dict(example.arguments) for example in drawn(inputs, 200)]
    assert {"scale" in arguments for arguments in found} == {True, False}
    assert any(isinstance(arguments.get("mask"), TensorRecipe) for arguments in found)
    scales = [arguments["scale"] for arguments in found if "scale" in arguments]
    assert {"nan", "inf", "-0.0"} <= {repr(scale.value) for scale in scales if isinstance(scale, Constant)}


def test_a_parameter_of_which_nothing_is_known_is_guessed_and_told() -> None:
    inputs = inputs_for(setup(parameter("x")), (), Settings())
    assert inputs.origin == "guessed: x is a tensor"
    assert recipe(inputs.first(), "x").dtype == "float32"
    both = inputs_for(setup(parameter("x"), parameter("y")), (), Settings())
    assert both.origin == "guessed: x, y are tensors"


def test_a_parameter_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises(CheckError, match=r"'config' \(Config\).*--inputs"):
        inputs_for(setup(parameter("x", "Tensor"), parameter("config", "Config")), (), Settings())


def test_a_function_of_any_number_of_tensors() -> None:
    known = setup(parameter("xs", "Tensor", kind="VAR_POSITIONAL"))
    inputs = inputs_for(known, (), Settings())
    assert len(build(inputs.first(), known.parameters, "cpu")[0]) == 2
    assert {len(build(example, known.parameters, "cpu")[0]) for example in drawn(inputs, 60)} == {0, 1, 2, 3}


@pytest.mark.parametrize("known", [[seen(x=tensor(3))], []])
def test_corners_have_special_elements_in_half_precision(known: list[ArgumentsSeen]) -> None:
    inputs = inputs_for(setup(parameter("x")), known, Settings())
    corners = [build(example, (), "cpu")[1]["x"] for example in inputs.accepting(["float16", "bfloat16"]).corners()]
    for dtype, test in ((torch.float16, torch.isinf), (torch.float16, torch.isnan), (torch.bfloat16, torch.isinf)):
        assert any(x.dtype == dtype and test(x).any() for x in corners)
    corners = [build(example, (), "cpu")[1]["x"] for example in inputs.accepting(["bfloat16"]).corners()]
    assert not any(x.dtype == torch.float16 for x in corners)


def test_further_positional_arguments_are_a_variation() -> None:
    known = setup(parameter("x"), parameter("ys", kind="VAR_POSITIONAL"))
    inputs = inputs_for(known, (), Settings())
    assert len(build(inputs.first(), known.parameters, "cpu")[0]) == 1
    counts = {len(build(example, known.parameters, "cpu")[0]) for _, example in inputs.variations()}
    assert counts == {1, 2, 3, 4}
    turned = inputs.starting_from(["*ys is a tuple of 2"])
    assert len(build(turned.first(), known.parameters, "cpu")[0]) == 3


def test_containers_of_tensors_have_variations_too() -> None:
    known = setup(parameter("xs", "list[Tensor]"))
    inputs = inputs_for(known, (), Settings())
    (made,), _ = build(variation(inputs, "transposed xs[0]"), known.parameters, "cpu")
    assert [value.is_contiguous() for value in made] == [False, True]


# -- recorded calls ---------------------------------------------------------------------------------

PAIR = setup(parameter("x"), parameter("y"))


def test_the_first_call_is_the_most_frequent_recorded_one() -> None:
    calls = [seen(2, x=tensor(4, 8), y=tensor(8)), seen(9, x=tensor(5, 8, dtype="float16", grad=True), y=tensor(8))]
    inputs = inputs_for(PAIR, calls, Settings())
    assert inputs.origin == "11 recorded calls"
    x = recipe(inputs.first(), "x")
    assert (x.shape, x.dtype, x.requires_grad) == ((5, 8), "float16", True)


def test_sizes_that_were_always_equal_stay_equal() -> None:
    inputs = inputs_for(PAIR, [seen(x=tensor(4, 8), y=tensor(8)), seen(x=tensor(6, 8), y=tensor(8))], Settings())
    assert shapes(variation(inputs, "other size of x[1]")) == {"x": (4, 3), "y": (3,)}
    assert shapes(variation(inputs, "other size of x[0]")) == {"x": (3, 8), "y": (8,)}
    only = [name for name, _ in inputs.variations() if " of only " in name or name.endswith(" of y[0]")]
    learned = inputs.accepting([name for name, _ in inputs.variations() if name not in only])
    together = [shapes(example) for example in drawn(learned, 100) if {"x", "y"} <= set(shapes(example))]
    assert sum(made["x"][1:] == made["y"] for made in together) > 0.85 * len(together)
    assert len({made["x"] for made in together}) > 10


def test_sizes_that_differed_once_are_free_of_each_other() -> None:
    inputs = inputs_for(PAIR, [seen(x=tensor(4), y=tensor(4)), seen(x=tensor(4), y=tensor(5))], Settings())
    assert shapes(variation(inputs, "other size of x[0]")) == {"x": (3,), "y": (4,)}


def test_open_sizes_keep_their_relation() -> None:
    inputs = inputs_for(PAIR, [seen(x=tensor("s0", 8), y=tensor("2*s0"))], Settings())
    for example in (inputs.first(), variation(inputs, "other size of x[0]")):
        made = shapes(example)
        assert made["y"] == (2 * made["x"][0],)


def test_layouts_are_as_recorded() -> None:
    channels_last = tensor(2, 3, 4, 4, stride=(48, 1, 12, 3))
    expanded = tensor(2, 3, stride=(0, 1))
    inputs = inputs_for(PAIR, [seen(x=channels_last, y=expanded)], Settings())
    made = tensors(inputs.first(), PAIR.parameters)
    assert made["x"].stride() == (48, 1, 12, 3)
    assert made["y"].stride() == (0, 1)
    other = tensors(variation(inputs, "large size of x[2]"), PAIR.parameters)["x"]
    assert other.is_contiguous(memory_format=torch.channels_last)


def test_strides_with_gaps_are_as_recorded() -> None:
    inputs = inputs_for(setup(parameter("x")), [seen(x=tensor(2, 3, stride=(10, 2)))], Settings())
    assert tensors(inputs.first(), [parameter("x")])["x"].stride() == (10, 2)


def test_constants_stay_among_the_recorded_ones() -> None:
    known = setup(parameter("x"), parameter("mode"))
    calls = [seen(x=tensor(4), mode=scalar("sum")), seen(x=tensor(4), mode=scalar("mean"))]
    found = drawn(inputs_for(known, calls, Settings()), 100)
    assert {number(example, "mode") for example in found} == {"sum", "mean"}


def test_recorded_tensor_or_none_gives_both() -> None:
    calls = [seen(x=tensor(4), y=tensor(4)), seen(x=tensor(4), y=scalar(None))]
    kinds = {type(dict(example.arguments)["y"]) for example in drawn(inputs_for(PAIR, calls, Settings()), 60)}
    assert {TensorRecipe, Constant} <= kinds


def test_recorded_numbers_vary_around_the_recorded_one() -> None:
    known = setup(parameter("x"), parameter("n"))
    inputs = inputs_for(known, [seen(x=tensor(4), n=scalar(3))], Settings())
    assert number(inputs.first(), "n") == 3
    found = Counter(number(example, "n") for example in drawn(inputs, 100))
    assert found[3] > 50
    assert {0, -1} & set(found)


def test_numbers_that_the_run_did_not_fix() -> None:
    inputs = inputs_for(setup(parameter("n")), [seen(n=ValueSpec("int", "int"))], Settings())
    assert len({number(example, "n") for example in drawn(inputs, 40)}) > 3


def test_recorded_integer_tensors_could_be_indices() -> None:
    inputs = inputs_for(setup(parameter("x")), [seen(x=tensor(4, dtype="int64"))], Settings())
    values = tensors(inputs.first(), [parameter("x")])["x"]
    assert set(values.tolist()) <= {0, 1}
    learned = inputs.accepting(["x up to 3"])
    found = [tensors(example, [parameter("x")])["x"] for example in drawn(learned, 100)]
    inside = [value for value in found if value.dtype == torch.int64 and not ((value < 0) | (value > 3)).any()]
    assert len(inside) > 80
    assert any((value == 3).any() for value in inside)


def test_a_module_is_in_the_recorded_mode() -> None:
    module = ValueSpec("module", "app.Net", items=(("training", scalar(False)),))
    inputs = inputs_for(setup(parameter("x"), module=True), [seen(self=module, x=tensor(4))], Settings())
    assert inputs.first().training is False
    assert [name for name, _ in inputs.first().arguments] == ["x"]


def test_further_positional_arguments_are_recorded_one_by_one() -> None:
    known = setup(parameter("x"), parameter("rest", kind="VAR_POSITIONAL"))
    values = {"x": tensor(4), "rest[0]": tensor(4), "rest[1]": scalar(2)}
    args, _ = build(inputs_for(known, [ArgumentsSeen(values)], Settings()).first(), known.parameters, "cpu")
    assert [type(value) for value in args] == [torch.Tensor, torch.Tensor, int]


def test_recorded_containers_and_parameters() -> None:
    pair = ValueSpec("tuple", "tuple", items=(("0", tensor(4)), ("1", scalar(2))), length=2)
    weight = ValueSpec("tensor", "torch.nn.parameter.Parameter", TensorSpec("float32", (4,), (1,), "cpu", True))
    args, _ = build(inputs_for(PAIR, [seen(x=pair, y=weight)], Settings()).first(), PAIR.parameters, "cpu")
    assert args[0][0].shape == (4,)
    assert args[0][1] == 2
    assert isinstance(args[1], torch.nn.Parameter)


def test_a_recorded_object_of_the_program_is_an_error_unless_it_may_be_left_out() -> None:
    call = seen(x=tensor(4), config=ValueSpec("object", "app.Config"))
    with pytest.raises(CheckError, match=r"'config' \(app.Config\)"):
        inputs_for(setup(parameter("x"), parameter("config")), [call], Settings())
    inputs = inputs_for(setup(parameter("x"), parameter("config", default="None")), [call], Settings())
    assert [name for name, _ in inputs.first().arguments] == ["x"]


def test_a_call_that_cannot_be_made_is_passed_over() -> None:
    calls = [seen(5, x=tensor(4), y=ValueSpec("object", "app.Box")), seen(x=tensor(4), y=tensor(4))]
    assert all("y" in dict(example.arguments) for example in drawn(inputs_for(PAIR, calls, Settings()), 30))


# -- inputs of the user's own -----------------------------------------------------------------------


def test_a_strategy_of_argument_tuples() -> None:
    inputs = given_inputs(st.tuples(st.integers(0, 3).map(lambda n: torch.full((n,), 2.0))), Settings())
    found = [build(example, [], "cpu")[0][0].tolist() for example in drawn(inputs, 20)]
    assert [2.0, 2.0] in found
    assert inputs.variations() == ()
    assert inputs.corners() == ()
    first, _, other = inputs.sequence()
    assert build(first, [], "cpu")[0][0].shape != build(other, [], "cpu")[0][0].shape


def test_a_list_of_arguments_and_a_function_that_returns_it() -> None:
    x = torch.ones(2)

    def calls() -> list[object]:
        return [(x, x), {"n": 3}, ((x,), {"n": 3})]

    inputs = given_inputs(calls, Settings())
    same, keywords, both = (build(example, [], "cpu") for example in inputs.corners())
    assert same[0][0] is same[0][1]
    assert keywords == ((), {"n": 3})
    assert (len(both[0]), both[1]) == (1, {"n": 3})
    assert inputs.first() == inputs.corners()[0]
    assert inputs.accepting(["anything"]) is inputs
    assert call_text(inputs.corners()[2]) == "float32[2] [1.0, 1.0], n=3"


def test_a_value_that_is_no_tuple_is_the_only_argument() -> None:
    assert build(given_inputs([3], Settings()).first(), [], "cpu") == ((3,), {})


@pytest.mark.parametrize("values", [3, None, [], "x"])
def test_inputs_that_are_none(values: object) -> None:
    with pytest.raises(CheckError, match="given inputs"):
        given_inputs(values, Settings())


def test_a_function_of_inputs_that_raises() -> None:
    def calls() -> list[object]:
        raise ValueError("no data here")

    with pytest.raises(CheckError, match="ValueError: no data here"):
        given_inputs(calls, Settings())


def test_a_strategy_that_raises() -> None:
    def broken(_: int) -> tuple[int]:
        raise ValueError("no data here")

    with pytest.raises(CheckError, match="ValueError: no data here"):
        given_inputs(st.integers().map(broken), Settings()).first()


def test_listed_values_belong_to_small_tensors(two_hundred: list[Example]) -> None:
    for example in two_hundred:
        for _, made in example.arguments:
            if isinstance(made, TensorRecipe) and isinstance(made.values, Listed):
                assert len(made.values.numbers) <= 8


def test_one_tensor_of_zeros_among_ordinary_ones_also_where_it_may_be_left_out() -> None:
    inputs = inputs_for(setup(parameter("x", "Tensor"), parameter("y", "Tensor | None", "None")), (), Settings())
    zeros = [
        {name for name, recipe in example.arguments if isinstance(recipe, TensorRecipe) and not build_one(recipe).any()}
        for example in inputs.corners()
        if len([recipe for _, recipe in example.arguments if isinstance(recipe, TensorRecipe)]) == 2
    ]
    assert {"x"} in zeros
    assert {"y"} in zeros


def build_one(recipe: TensorRecipe) -> torch.Tensor:
    args, _ = build(Example((("x", recipe),)), (parameter("x"),), "cpu")
    found: torch.Tensor = args[0]
    return found


def test_words_of_the_program_are_what_a_text_may_be() -> None:
    parameters = (parameter("x", "Tensor"), parameter("mode", "str", "'mean'"), parameter("n", "int"))
    inputs = inputs_for(setup(*parameters), (), Settings(), words=("mean", "sum"))
    names = [name for name, _ in inputs.variations()]
    assert "mode='sum'" in names
    assert not any(name.startswith(("x='", "n='")) for name in names)


@pytest.mark.parametrize("grad", [False, True])
def test_what_a_run_showed_of_the_arguments_stays_so_where_that_is_asked(grad: bool) -> None:
    known = setup(parameter("x"), parameter("y"), parameter("n"))
    call = seen(3, x=tensor(2, 4, grad=grad), y=tensor(4), n=scalar(3))
    examples = drawn(inputs_for(known, (call,), Settings(as_recorded=True)), 100)
    made = [tensors(example, known.parameters) for example in examples]
    assert {one["x"].dtype for one in made} == {torch.float32}
    assert {(one["x"].ndim, one["y"].ndim) for one in made} == {(2, 1)}
    assert all(one["x"].shape[1] == one["y"].shape[0] for one in made)
    assert len({one["x"].shape for one in made}) > 2
    assert any(one["x"].requires_grad for one in made) is grad
    assert any(one["x"].isnan().any() for one in made)
    assert all(example.grad_enabled for example in examples)
    off = ArgumentsSeen(call.values, 3, grad_enabled=False)
    examples = drawn(inputs_for(known, (off,), Settings(as_recorded=True)), 50)
    assert not any(example.grad_enabled for example in examples)
