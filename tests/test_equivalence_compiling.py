"""torch.compile in a version of a program: the identity in eager mode, the backend of the check in compiled mode."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch
import torch._dynamo
from subjects import number, subject, target, vector, written

from gbfix.equivalence.model import CheckError, Mode, Observation, Settings
from gbfix.equivalence.subject import Subject

PROGRAM = """\
import functools
import torch
import torch._dynamo
from torch import compile as compile_it
from torch import nn

compiling = torch.compiler.is_compiling

def note(x):
    return x + (100 if compiling() else 1)

def plain(x):
    return note(x)

@torch.compile
def bare(x):
    return note(x)

@torch.compile(mode="reduce-overhead", fullgraph=True, dynamic=True, options=None, backend="no such backend")
def with_options(x):
    return note(x)

@functools.partial(torch.compile, backend=lambda graph, inputs: graph.forward, dynamic=False)
def by_partial(x):
    return note(x)

@compile_it(mode="max-autotune")
def imported(x):
    return note(x)

@functools.partial(torch.compiler.compile, backend="none")
def by_compiler(x):
    return note(x)

@torch._dynamo.optimize("no such backend")
def optimized(x):
    return note(x)

def given(x):
    return note(x)

given_compiled = torch.compile(given, fullgraph=True)

def outer(x):
    return bare(x) * 2

def lazily(x):
    return torch.compile(given, backend="none")(x)

@torch.compile(disable=True)
def disabled(x):
    return note(x)

def breaks(x):
    print("once")
    return note(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
    def forward(self, x):
        return note(self.linear(x))

class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
    def forward(self, x):
        self.calls += 1
        return x + self.calls

counting = torch.compile(Counting())

class Decorated(Net):
    @torch.compile
    def forward(self, x):
        return note(self.linear(x))

class InPlace(Net):
    def __init__(self):
        super().__init__()
        self.compile(mode="reduce-overhead")

class OfItself(Net):
    def __init__(self):
        super().__init__()
        self.forward = torch.compile(self.forward)

class Outer(Net):
    def __init__(self):
        super().__init__()
        self.inner = torch.compile(Net())
    def forward(self, x):
        return self.inner(x)

def compiled_net():
    return torch.compile(Net(), mode="max-autotune")

model = torch.compile(Net())
outer_model = Outer()
in_place_model = InPlace()
of_itself_model = OfItself()

def cond(x):
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

seen = []
def counts_calls(x):
    seen.append(1)
    return x + len(seen)
"""

FUNCTIONS = [
    *["plain", "bare", "with_options", "by_partial", "imported", "by_compiler", "optimized", "given", "given_compiled"],
    *["lazily"],
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("compiling"), PROGRAM)


def _values(observation: Observation) -> list[float]:
    assert observation.raised is None, observation.raised
    assert observation.result is not None
    assert observation.result.tensor is not None
    data = observation.result.tensor.data
    return list(struct.unpack(f"{len(data) // 4}f", data))


def _observed(path: Path, attribute: str, mode: Mode, factory: str = "") -> tuple[Observation, bool]:
    one = subject(path, attribute, mode, factory=factory)
    try:
        setup = one.setup()
        return one.observe(vector(1.0, 2.0)), setup.compiles_itself
    finally:
        one.close()


@pytest.mark.parametrize("attribute", FUNCTIONS)
def test_functions_are_compiled_in_compiled_mode_only(program: Path, attribute: str) -> None:
    eager, itself = _observed(program, attribute, Mode.EAGER)
    assert _values(eager) == [2.0, 3.0]
    assert eager.graphs == 0
    assert not itself
    compiled, itself = _observed(program, attribute, Mode.COMPILED)
    assert _values(compiled) == [101.0, 102.0]
    assert compiled.graphs == 1
    assert compiled.again is not None
    assert compiled.again.graphs == 0  # the second call takes what the first compiled
    assert itself == (attribute not in ("plain", "lazily"))


def test_what_is_switched_off_stays_off(program: Path) -> None:
    compiled, _ = _observed(program, "disabled", Mode.COMPILED)
    assert _values(compiled) == [2.0, 3.0]


@pytest.mark.parametrize(
    ("attribute", "factory"),
    [
        ("Net", ""),
        ("Decorated", ""),
        ("Decorated.forward", ""),
        ("InPlace", ""),
        ("OfItself", ""),
        ("Outer", ""),
        ("Net", "compiled_net"),
        ("model", ""),
        ("outer_model", ""),
        ("in_place_model", ""),
        ("of_itself_model", ""),
    ],
)
def test_modules(program: Path, attribute: str, factory: str) -> None:
    eager, _ = _observed(program, attribute, Mode.EAGER, factory)
    compiled, _ = _observed(program, attribute, Mode.COMPILED, factory)
    assert eager.graphs == 0
    assert compiled.graphs == 1
    difference = [one - other for one, other in zip(_values(compiled), _values(eager), strict=True)]
    assert difference == pytest.approx([99.0, 99.0], abs=1e-4)
    if "outer" not in attribute.lower():
        assert eager.state is not None
        assert compiled.state is not None
        assert eager.state.items[0][0] == compiled.state.items[0][0] == "self"
        assert eager.state.items[0][1].type == compiled.state.items[0][1].type


def test_several_examples_do_not_depend_on_each_other(program: Path) -> None:
    one = subject(program, "Outer", Mode.COMPILED)
    graphs = [one.observe(vector(1.0, 2.0, module_seed=seed, training=True)).graphs for seed in (0, 0, 1)]
    one.close()
    assert graphs == [1, 1, 1]
    one = subject(program, "bare", Mode.COMPILED)
    graphs = [one.observe(vector(*range(size))).graphs for size in range(2, 14)]
    one.close()
    assert graphs == [1] * 12  # no automatic dynamic shapes, and no recompile limit


@pytest.mark.parametrize("mode", list(Mode))
def test_a_module_in_a_global_variable_is_copied_for_each_example(program: Path, mode: Mode) -> None:
    one = subject(program, "counting", mode)
    values = [_values(one.observe(vector(0.0))) for _ in range(2)]
    one.close()
    assert values == [[1.0], [1.0]]


def test_what_calls_something_compiled_is_not_compiled_once_more(program: Path) -> None:
    compiled, _ = _observed(program, "outer", Mode.COMPILED)
    assert _values(compiled) == [202.0, 204.0]
    assert compiled.graphs == 1  # one more would come from the multiplication outside of `bare`


def test_pytorch_compiles_on_its_own_account_as_ever(program: Path) -> None:
    eager, _ = _observed(program, "cond", Mode.EAGER)
    assert _values(eager) == [2.0, 3.0]
    assert eager.graphs == 0
    compiled, _ = _observed(program, "cond", Mode.COMPILED)
    assert _values(compiled) == [2.0, 3.0]


def test_the_backend_of_the_settings_is_used(program: Path) -> None:
    one = subject(program, "bare", Mode.COMPILED, Settings(backend="aot_eager"))
    observation = one.observe(vector(1.0))
    one.close()
    assert observation.graphs == 1
    one = subject(program, "bare", Mode.COMPILED, Settings(backend="no_such_backend"))
    with pytest.raises(CheckError, match="backend no_such_backend: PyTorch knows none of that name"):
        one.setup()
    one.close()


def test_a_backend_that_the_program_registers(program: Path) -> None:
    own = "\n\n@torch._dynamo.register_backend\ndef of_the_program(graph, inputs):\n    return graph.forward\n"
    settings = Settings(backend="of_the_program")
    one = Subject(target(program, "plain"), {str(program): PROGRAM + own}, Mode.COMPILED, settings)
    observation = one.observe(vector(1.0))
    one.close()
    assert (_values(observation), observation.graphs) == ([101.0], 1)


def test_compiling_is_not_switched_off_by_the_environment(program: Path) -> None:
    with torch._dynamo.config.patch(disable=True):
        compiled, _ = _observed(program, "plain", Mode.COMPILED)
    assert compiled.graphs == 1


def test_counts_force_one_graph_on_the_programs_own_compile_calls(program: Path) -> None:
    text = PROGRAM + "\n\n@torch.compile\ndef own(x):\n    print(x)\n    return x + 1\n"
    for attribute, graphs, error in [("own", 1, "GB0059"), ("breaks", 1, "GB0059"), ("bare", 1, ""), ("plain", 1, "")]:
        one = Subject(target(program, attribute), {str(program): text}, Mode.COMPILED, Settings())
        counts = one.counts([vector(1.0), vector(2.0), vector(1.0, 2.0)])
        one.close()
        assert (counts.graphs, counts.raised) == (graphs, "")
        assert counts.fullgraph == (not error), counts
        assert counts.fullgraph_error.startswith(error)
        assert counts.recompiles_shapes >= 1


def test_counts_of_a_function_that_compiles_itself(program: Path) -> None:
    one = subject(program, "outer", Mode.COMPILED)
    counts = one.counts([vector(1.0)])
    one.close()
    assert (counts.graphs, counts.breaks, counts.fullgraph) == (1, (), True)


ONCE = """
library = torch.library.Library("gbfix_tests", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")

def twice(x):
    return torch.ops.gbfix_tests.twice(x) if x.sum() > 0 else x
@torch.compile
def own_twice(x):
    return torch.ops.gbfix_tests.twice(x)
"""


def test_counts_of_a_program_that_can_be_loaded_only_once(program: Path) -> None:
    found = {}
    for attribute in ("twice", "own_twice"):
        one = Subject(target(program, attribute), {str(program): PROGRAM + ONCE}, Mode.COMPILED, Settings())
        found[attribute] = one.counts([vector(1.0)])
        one.close()
    assert (found["twice"].graphs, found["twice"].raised) == (2, "")
    assert (
        "the program cannot be loaded twice: " in found["twice"].fullgraph_error
    )  # it may reach what PROGRAM compiled
    assert (found["own_twice"].graphs, found["own_twice"].fullgraph) == (1, True)


def test_the_second_call_sees_what_the_first_left(program: Path) -> None:
    one = subject(program, "counts_calls")
    observation = one.observe(number(0))
    one.close()
    assert observation.result is not None
    assert observation.again is not None
    assert observation.again.result is not None
    assert (observation.result.text, observation.again.result.text) == ("1", "2")


def test_counts_of_a_script_that_calls_what_it_compiles_when_it_is_loaded(tmp_path: Path) -> None:
    text = """
    import torch

    def step(x):
        if x.sum() > 0:
            return x * 2
        return x + 1

    def plain(x):
        return x * 2

    f, g = torch.compile(step), torch.compile(plain, fullgraph=True)
    f(torch.ones(3)), g(torch.ones(3))
    """
    path = written(tmp_path, text)
    found = {}
    for attribute in ("f", "step", "g"):
        one = subject(path, attribute, Mode.COMPILED)
        found[attribute] = one.counts([vector(1.0, 2.0, 3.0), vector(3.0, 4.0, 5.0)])
        one.close()
    for attribute in ("f", "step"):
        assert (found[attribute].graphs, len(found[attribute].breaks)) == (2, 1)
        assert not found[attribute].fullgraph
        assert "GB" in found[attribute].fullgraph_error
    assert (found["g"].graphs, found["g"].fullgraph) == (1, True)
