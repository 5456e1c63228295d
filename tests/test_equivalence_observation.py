"""One observed call: what is kept of it, and that observing changes nothing."""

# ruff: noqa: ARG001, ARG005
from __future__ import annotations

import ctypes
import io
import logging
import os
import random
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from gbfix.equivalence.messages import recorded
from gbfix.equivalence.model import Described, Event, Observation
from gbfix.equivalence.observation import observe_call

log = logging.getLogger("tests.observation")


def observe(function: Callable[..., Any], *args: Any, **options: Any) -> Observation:
    return observe_call(function, args, {}, names=("x", "y"), **{"descriptors": False, **options})


def item(described: Described | None, *keys: str) -> Described:
    assert described is not None
    for key in keys:
        described = dict(described.items)[key]
    return described


def situation() -> dict[str, Any]:
    return {
        "streams": (sys.stdout, sys.stderr),
        "filters": list(warnings.filters),
        "warnings": warnings.showwarning,
        "hand over": logging.Logger.callHandlers,
        "level": logging.getLogger().level,
        "handlers": [(handler, getattr(handler, "stream", None)) for handler in logging.getLogger().handlers],
        "grad": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "precision": torch.get_float32_matmul_precision(),
        "torch": torch.get_rng_state().tolist(),
        "python": random.getstate(),
        "numpy": repr(numpy.random.get_state()),
    }


def disturb(x: torch.Tensor) -> torch.Tensor:
    print("a")
    log.info("a")
    warnings.warn("a", stacklevel=1)
    warnings.simplefilter("ignore")
    random.random()
    numpy.random.rand()
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    torch.use_deterministic_algorithms(True)
    torch.set_autocast_enabled("cpu", True)
    torch.set_float32_matmul_precision("high")
    return x + torch.rand(1)


def interrupt(x: torch.Tensor) -> torch.Tensor:
    disturb(x)
    raise KeyboardInterrupt


@pytest.mark.parametrize("descriptors", [False, True])
def test_everything_is_put_back(descriptors: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    logging.getLogger().addHandler(handler)
    try:
        before = situation()
        observe(disturb, torch.ones(2), descriptors=descriptors)
        assert situation() == before
        with pytest.raises(KeyboardInterrupt):
            observe(interrupt, torch.ones(2), descriptors=descriptors)
        assert situation() == before
    finally:
        logging.getLogger().removeHandler(handler)


def test_the_call_is_seeded() -> None:
    def draw(x: torch.Tensor) -> Any:
        return torch.rand(2), random.random(), numpy.random.rand()

    assert observe(draw, 1, seed=3).result == observe(draw, 1, seed=3).result
    assert observe(draw, 1, seed=3).result != observe(draw, 1, seed=4).result


def test_arguments_by_position_and_keyword() -> None:
    def function(*args: Any, **kwargs: Any) -> int:
        return len(args)

    seen = observe_call(function, (1, 2, 3, 4), {"key": 5}, names=("x", "y"), descriptors=False)
    assert seen.arguments is not None
    assert [key for key, _ in seen.arguments.items] == ["x", "y", "args[0]", "args[1]", "key"]


def test_gradients_by_name_and_none_apart_from_zeros() -> None:
    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def forward(self, x: torch.Tensor, y: list[torch.Tensor]) -> Any:
            return {"a": self.used(x) + y[0] * 0}

    module = Module()
    x, y = torch.ones(2), [torch.ones(2, requires_grad=True)]
    seen = observe(module, x, y, owner=module)
    names = ["y[0]", "self.used.weight", "self.used.bias", "self.unused.weight", "self.unused.bias"]
    assert list(seen.gradients) == names
    zeros = seen.gradients["y[0]"]
    assert zeros is not None
    assert zeros.tensor is not None
    assert torch.frombuffer(bytearray(zeros.tensor.data), dtype=torch.float32).abs().max() == 0
    assert seen.gradients["self.unused.weight"] is None
    assert all(parameter.grad is None for parameter in (*module.parameters(), y[0]))
    assert observe(module, x, y, owner=module, grad_enabled=False).gradients == {}
    assert observe(lambda x: x.detach(), y[0]).gradients == {}


def test_gradients_that_the_program_has_are_kept() -> None:
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.full((2,), 5.0)
    seen = observe(lambda x: x * 2, x)
    assert x.grad.tolist() == [5.0, 5.0]
    assert item(seen.arguments, "x", "grad").tensor is not None


def test_an_argument_that_is_no_leaf_has_a_gradient_too() -> None:
    leaf = torch.ones(2, requires_grad=True)
    assert observe(lambda x: x * 2, leaf * 3).gradients["x"] is not None


def test_an_argument_that_gradients_were_written_to() -> None:
    weight = torch.ones(2, requires_grad=True)
    seen = observe(lambda x, y: (x.mul_(y), None)[1], torch.ones(2), weight)
    assert seen.gradients["y"] is not None


def test_a_backward_pass_that_raises() -> None:
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(_context: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(_context: Any, _gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            print("backward")
            raise ValueError("no")

    seen = observe(Failing.apply, torch.ones(2, requires_grad=True))
    assert seen.backward_raised is not None
    assert (seen.backward_raised.type, seen.raised) == ("ValueError", None)
    assert seen.events == (Event("stdout", "backward\n"),)


def test_a_reentrant_checkpoint() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.utils.checkpoint.checkpoint(lambda x: torch.nn.functional.dropout(x), x, use_reentrant=True)

    seen = observe(function, torch.ones(8, requires_grad=True))
    assert seen.backward_raised is None
    assert seen.gradients["x"] is not None


def test_who_raised() -> None:
    def program(x: torch.Tensor) -> None:
        raise RuntimeError(f"bad {object()}")

    def python(x: torch.Tensor) -> None:
        return [][3]

    def again(x: torch.Tensor) -> None:
        try:
            x @ x
        except RuntimeError as error:
            raise ValueError("no product") from error

    x = torch.ones(2, 3)
    compiled = torch.compile(lambda x: x @ x, backend="eager")
    seen = [observe(each, x).raised for each in (program, lambda x: x @ x, compiled)]
    assert [(each.from_torch, each.from_compiler) for each in seen if each] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert seen[0] is not None
    assert seen[0].text == "bad <object object at 0x...>"
    chained = observe(again, x).raised
    assert chained is not None
    assert (chained.type, chained.causes, chained.from_torch) == ("ValueError", ("RuntimeError",), False)
    assert observe(python, x).raised is not None
    left = observe(lambda x: sys.exit(2), x).raised
    assert left is not None
    assert (left.type, left.text, left.from_torch) == ("SystemExit", "2", False)


def test_what_an_exception_holds() -> None:
    def chained(x: torch.Tensor) -> None:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise ValueError("no") from error

    seen = observe(chained, 1).raised
    assert seen is not None
    assert seen.causes == ("KeyError: 'a'",)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no groups of exceptions")
def test_a_group_of_exceptions() -> None:
    def several(x: torch.Tensor) -> None:
        raise ExceptionGroup("two", [ValueError("a"), KeyError("b")])  # noqa: F821

    seen = observe(several, 1).raised
    assert seen is not None
    assert seen.text == "two (2 sub-exceptions)\nValueError: a\nKeyError: 'b'"


def test_what_dynamo_adds_to_a_text_is_cut_off() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x[5]

    eager = observe(function, torch.ones(3)).raised
    compiled = observe(torch.compile(function, backend="eager"), torch.ones(3)).raised
    assert eager is not None
    assert compiled is not None
    assert (compiled.type, compiled.text, compiled.from_compiler) == (eager.type, eager.text, True)


def test_a_break_under_fullgraph_is_not_a_failing_operation() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x

    raised = observe(torch.compile(function, backend="eager", fullgraph=True), torch.ones(3)).raised
    assert raised is not None
    assert (raised.type, raised.from_compiler) == ("torch._dynamo.exc.Unsupported", False)


def test_an_exception_that_has_no_text() -> None:
    class MuteError(Exception):
        exceptions = (KeyError(),)  # as a group has

        def __str__(self) -> str:
            raise ValueError

        @property
        def __notes__(self) -> list[str]:
            raise TypeError

    def function(x: int) -> None:
        raise MuteError

    raised = observe(function, 1).raised
    assert raised is not None
    assert raised.text == "(its text raises ValueError)\n(its notes raise TypeError)"


def test_a_handler_with_another_stream_on_standard_error_is_no_message() -> None:
    with open(2, "w", closefd=False) as stream:
        handler = logging.StreamHandler(stream)
        logger = logging.getLogger("torch.something")
        logger.addHandler(handler)
        try:
            seen = observe(lambda x: logger.error("not of the program"), torch.ones(1))
        finally:
            logger.removeHandler(handler)
        assert handler.stream is stream
    assert seen.events == ()


def test_messages_in_one_order() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    alone = logging.getLogger("tests.observation.alone")
    alone.addHandler(handler)
    alone.propagate = False

    def function(x: torch.Tensor) -> None:
        print("one", 1, end="")
        sys.stdout.write(" two\n")
        alone.warning("three %d", 3)
        print("four", file=sys.stderr)
        warnings.warn("five", DeprecationWarning, stacklevel=1)
        sys.stdout.buffer.write("s\u00edx".encode()[:2])
        sys.stdout.buffer.write("s\u00edx".encode()[2:])
        logging.getLogger("torch.something").error("not of the program")
        log.debug("seven")

    seen = observe(function, torch.ones(1))
    assert seen.raised is None
    assert seen.events == (
        Event("stdout", "one 1 two\n"),
        Event("log", "three 3", "tests.observation.alone WARNING"),
        Event("stderr", "four\n"),
        Event("warning", "five", "DeprecationWarning"),
        Event("stdout", "s\u00edx"),
        Event("log", "seven", "tests.observation DEBUG"),
    )


def test_a_record_with_wrong_arguments() -> None:
    seen = observe(lambda x: log.info("%d %d", 1), 1)
    assert seen.events == (Event("log", "'%d %d' % tuple: TypeError", "tests.observation INFO"),)


def test_a_progress_bar_has_no_times() -> None:
    def bar(*rates: str) -> Callable[..., None]:
        return lambda x: [sys.stderr.write(f"\r 50%|##   | 1/2 [00:00<00:01, {rate}it/s]") for rate in rates] and None

    assert observe(bar("1.0", "2.0"), 1).events == observe(bar("3.0"), 1).events != ()


def test_places_in_the_source_and_moments_are_left_out() -> None:
    def function(x: int) -> None:
        try:
            int("a")
        except ValueError:
            traceback.print_exc()
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')},123 INFO program.py:{x} shape 2:3", file=sys.stderr)

    text = "Traceback (most recent call last):\nValueError: invalid literal for int() with base 10: 'a'\n"
    assert observe(function, 17).events == (Event("stderr", f"{text}[time] INFO program.py:... shape 2:3\n"),)


def test_the_programs_own_redirection_works() -> None:
    def function(x: int) -> str:
        before, sys.stdout = sys.stdout, io.StringIO()
        try:
            print("inside")
            return sys.stdout.getvalue()
        finally:
            sys.stdout = before

    seen = observe(function, 1)
    assert seen.events == ()
    assert seen.result is not None
    assert seen.result.text == r"'inside\n'"


def test_below_python() -> None:
    def function(x: int) -> None:
        os.write(2, b"two\n")
        ctypes.CDLL(None).puts(b"one")
        subprocess.run(["echo", "three"], check=True)

    seen = observe(function, 1, descriptors=True)
    assert set(seen.events) == {Event("stdout", "three\none\n", "fd"), Event("stderr", "two\n", "fd")} or set(
        seen.events
    ) == {Event("stdout", "one\nthree\n", "fd"), Event("stderr", "two\n", "fd")}


def test_what_was_printed_before_is_not_lost(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nfrom gbfix.equivalence.observation import observe_call\nkept = sys.stdout\nprint('before')\n"
        "seen = observe_call(lambda x: (print('in'), kept.write('kept')), (1,), {}, names=('x',))\nprint('after')\n"
        "assert [(each.text, each.name) for each in seen.events] == [('in\\n', ''), ('kept', 'fd')], seen.events\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("before\nafter\n", "")


def test_torch_is_quiet_when_an_operation_fails_in_the_compiler() -> None:
    seen = observe(torch.compile(lambda x: x @ x, backend="eager"), torch.ones(2, 3), descriptors=True)
    assert seen.events == ()


@pytest.mark.parametrize(
    "warning", ["torch.tensor(torch.ones(1))", "torch.ones(2).to(torch.complex64).to(torch.float32)"]
)
def test_warnings_of_torch_itself_are_not_the_programs(warning: str) -> None:
    with recorded(descriptors=False) as recorder:
        eval(warning)
    assert all("Triggered internally" not in event.text for event in recorder.events())


def graphs_of(function: Callable[..., Any], *, observed: bool) -> int:
    torch._dynamo.reset()
    graphs: list[Any] = []

    def count(module: Any, _inputs: Any) -> Any:
        graphs.append(module)
        return module.forward

    compiled = torch.compile(function, backend=count)
    for _ in range(2):
        if observed:
            assert observe(compiled, torch.ones(3)).raised is None
        else:
            compiled(torch.ones(3))
    return len(graphs)


def prints(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    print("a", x.shape)
    return y * 2


def logs(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    log.info("a %s", y.sum())
    return y * 2


def warns(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    warnings.warn("a", stacklevel=1)
    return y * 2


def writes(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    sys.stdout.write("a")
    return y * 2


@pytest.mark.parametrize("function", [prints, logs, warns, writes])
def test_observing_compiled_code_breaks_it_no_more_than_it_does(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "level", logging.INFO)
    log.manager._clear_cache()  # type: ignore[attr-defined]
    assert 2 <= graphs_of(function, observed=True) <= graphs_of(function, observed=False)


def test_globals_and_attributes_of_functions_and_classes() -> None:
    source = """
COUNT, SEEN, CONSTANT = 0, {}, (1, 2)
class Kept:
    made = 0
def helper(x, cache=[]):
    cache.append(1)
    helper.calls = getattr(helper, "calls", 0) + 1
def function(x):
    global COUNT
    COUNT += 1
    SEEN["a"] = x
    Kept.made += 1
    helper(x)
"""
    program: dict[str, Any] = {"__name__": "program"}
    exec(source, program)
    seen = observe(program["function"], torch.ones(1), module_globals=program)
    assert seen.state is not None
    assert [key for key, _ in seen.state.items] == [
        "global COUNT",
        "global Kept.made",
        "global SEEN",
        "global helper.__defaults__",
        "global helper.calls",
    ]


def test_what_is_kept_around_functions_and_in_classes() -> None:
    source = """
class Count:
    number = 0
class Kept:
    count = Count()
def counter():
    number = 0
    def step():
        nonlocal number
        number += 1
    return step
step = counter()
def function(x):
    step()
    Kept.count.number += 1
"""
    program: dict[str, Any] = {"__name__": "program"}
    exec(source, program)
    seen = observe(program["function"], 1, module_globals=program)
    assert seen.state is not None
    assert [key for key, _ in seen.state.items] == ["global Kept.count", "global step.number"]


def test_what_the_compiler_keeps_is_no_state() -> None:
    program: dict[str, Any] = {"__name__": "program", "torch": torch}
    exec("@torch._dynamo.assume_constant_result\ndef step():\n    return 3\ndef f(x):\n    return x + step()", program)
    seen = observe(torch.compile(program["f"], backend="eager"), torch.ones(1), module_globals=program)
    assert "step_0" in program
    assert seen.state is not None
    assert seen.state.items == ()


def test_an_object_of_the_program_as_a_global() -> None:
    program: dict[str, Any] = {"__name__": "program"}
    exec("class Kept:\n    pass\nKEPT = Kept()\ndef function(x):\n    KEPT.last = x\n", program)
    seen = observe(program["function"], 1, module_globals=program)
    assert item(seen.state, "global KEPT", "last").text == "1"


def test_the_cost_of_an_observation() -> None:
    module = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(8)))
    seen = observe(module, torch.ones(2, 64), owner=module, module_globals={"TABLE": list(range(100_000))})
    assert seen.seconds < 1
