"""Runs one row in an environment that has PyTorch and the row's library, but no gbfix.

    python worker.py [--do program|measure|time] ROW

`program` is what `gbfix fix` is given: the model, compiled, on every shape and every variant of the data, and a
training step of each. It prints what came out, in short. `measure` prints one JSON document: graphs, breaks and
recompiles, and all bits of the outputs and gradients, eager and compiled. `time` prints seconds with inductor.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import importlib
import importlib.metadata
import json
import logging
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "warning")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch
import torch._dynamo
from recorder import Recorder
from subjects import Edit, Inputs, MakeInputs, Subject, generator
from table import LIBRARIES, Row, chosen
from torch import Tensor, nn

SEEDS = (0, 1, 2)
WARM, TIMED = 5, 30

Call = Callable[..., Any]


def main() -> int:
    """Do one thing with one row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row")
    parser.add_argument("--do", choices=("program", "measure", "time"), default="program")
    options = parser.parse_args()
    suite, _, name = options.row.partition("/")
    torch.set_num_threads(1)
    importlib.import_module("torchvision_operators").define_missing()
    make: Callable[[], Subject] = importlib.import_module(f"models_{suite}").ROWS[name]
    (row,) = chosen((suite,), (name,))
    done = {"program": program, "measure": measure, "time": timed}[options.do](make(), row)
    json.dump(done, sys.stdout, indent=1)
    print()
    return 0


@dataclass(frozen=True)
class Phase:
    """Calls without gradients, or training steps."""

    name: str
    training: bool
    inputs: MakeInputs
    shapes: tuple[tuple[int, int], ...]


def phases(subject: Subject, about: Sequence[str]) -> Iterator[Phase]:
    """What is measured of a row, most shapes in what it is about: compiling for each takes most of the time."""
    first, all_of_them = subject.shapes[:1], subject.shapes
    if subject.inputs is not None:
        yield Phase("forward", False, subject.inputs, all_of_them if "forward" in about else first)
    yield Phase("train", True, subject.for_training, first if "forward" in about else all_of_them)


def program(subject: Subject, row: Row) -> dict[str, Any]:
    """The program that is fixed: every shape and every variant, compiled."""
    said: dict[str, Any] = {}
    for phase in phases(subject, row.phases):
        torch._dynamo.reset()
        compiled = torch.compile(subject.model, backend="eager")
        for shape in phase.shapes:
            said[f"{phase.name} {shape}"] = short(attempt(subject.model, compiled, phase, shape, 0, None))
        for name, variant in subject.variants.items():
            said[f"{phase.name} {name}"] = short(attempt(subject.model, compiled, phase, phase.shapes[0], 0, variant))
    return said


def short(described: Mapping[str, str]) -> str:
    """All bits of a run in one word."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def measure(subject: Subject, row: Row) -> dict[str, Any]:
    """Everything that is compared."""
    start = time.monotonic()
    library = LIBRARIES[row.suite]
    found: dict[str, Any] = {
        "versions": {name: importlib.metadata.version(name) for name in ("torch", library)},
        "model": type(subject.model).__name__,
        "parameters": sum(parameter.numel() for parameter in subject.model.parameters()),
        "phases": {},
        "bits": {},
    }
    for phase in phases(subject, row.phases):
        recorder = Recorder((library, *(f"models_{suite}.py" for suite in LIBRARIES)))
        torch._dynamo.reset()
        compiled = torch.compile(subject.model, backend=recorder.backend)
        # Python first, so that what a model keeps from its first call is there.
        modes = {"eager": sequence(subject, phase, subject.model, None)}
        with recorder.listening():
            modes["compiled"] = sequence(subject, phase, compiled, recorder)
        found["phases"][phase.name] = {
            **recorder.report(),
            "shapes": phase.shapes,
            "failed": modes["compiled"].failed,
            "fullgraph": fullgraph(subject, phase),
        }
        for name in modes["eager"].runs:
            found["bits"][f"{phase.name} {name}"] = {mode: modes[mode].runs[name] for mode in modes}
        found["bits"][f"{phase.name} messages"] = {mode: {"all": json.dumps(modes[mode].messages)} for mode in modes}
    found["seconds"] = round(time.monotonic() - start, 1)
    return found


@dataclass(frozen=True)
class Called:
    """What calls gave one after another: by shape, then by variant and seed at the first shape."""

    runs: dict[str, dict[str, str]]
    failed: list[str]
    messages: list[str]


def sequence(subject: Subject, phase: Phase, call: Call, recorder: Recorder | None) -> Called:
    """All calls of a phase. Only the shapes are counted: what comes after finds the graphs that are there."""
    runs = {}
    forget_messages()
    with messages() as said:
        for shape in phase.shapes:
            if recorder is not None:
                recorder.call += 1
            runs[f"shape {shape[0]}x{shape[1]}"] = attempt(subject.model, call, phase, shape, 0, None)
        failed = [f"{name}: {described['raised']}" for name, described in runs.items() if "raised" in described]
        if recorder is not None:
            recorder.stop()
        variants: dict[str, Edit | None] = {"ordinary": None, **subject.variants}
        for name, variant in variants.items():
            for seed in SEEDS:
                runs[f"{name} {seed}"] = attempt(subject.model, call, phase, phase.shapes[0], seed, variant)
    return Called(runs, failed, said)


def forget_messages() -> None:
    """Let messages that are said once in a process be said again."""
    for name in ("warning_once", "info_once"):
        clear = getattr(getattr(logging.Logger, name, None), "cache_clear", None)
        if clear is not None:
            clear()


def fullgraph(subject: Subject, phase: Phase) -> str:
    """What torch.compile(fullgraph=True) says at the first shape: "ok", or why not."""
    torch._dynamo.reset()
    compiled = torch.compile(subject.model, backend="eager", fullgraph=True)
    try:
        run(subject.model, compiled, phase, phase.shapes[0], 0, None)
    except Exception as error:
        return first_line(error)
    return "ok"


def first_line(error: Exception) -> str:
    """What an exception says, in a line."""
    return f"{type(error).__name__}: {str(error).strip()}".split("\n")[0][:200]


def attempt(
    model: nn.Module, call: Call, phase: Phase, shape: tuple[int, int], seed: int, variant: Edit | None
) -> dict[str, str]:
    """What a run gives, or what it raises."""
    try:
        return run(model, call, phase, shape, seed, variant)
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"[:400]}


def run(
    model: nn.Module, call: Call, phase: Phase, shape: tuple[int, int], seed: int, variant: Edit | None
) -> dict[str, str]:
    """Call once with everything set anew, and describe all that came of it. The model is then as it was."""
    inputs = phase.inputs(*shape, generator(seed, *shape))
    with kept(model):
        if variant is not None:
            with torch.no_grad():
                variant(model, inputs)
        model.train(phase.training)
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)
        with torch.set_grad_enabled(phase.training):
            output = call(**inputs)
        described = dict(describe("output", output))
        if phase.training:
            torch.autograd.backward(loss_of(output))
            for name, parameter in model.named_parameters():
                described[f"gradient of {name}"] = of_tensor(parameter.grad)
        for name, buffer in model.named_buffers():
            described[f"buffer {name}"] = of_tensor(buffer)
        described["random state"] = random_state()
    return described


def random_state() -> str:
    """The states of all generators that a model uses."""
    states = (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state())
    return hashlib.sha256(repr(states).encode()).hexdigest()[:16]


@contextmanager
def kept(model: nn.Module) -> Iterator[None]:
    """Put parameters, buffers and the absence of gradients back afterwards."""
    places = [
        (holder, name, value, value.detach().clone())
        for module in model.modules()
        for holder in (module._parameters, module._buffers)
        for name, value in holder.items()
        if value is not None
    ]
    try:
        yield
    finally:
        model.zero_grad(set_to_none=True)
        with torch.no_grad():
            for holder, name, value, contents in places:
                holder[name] = value  # type: ignore[assignment]
                value.copy_(contents)


class _Kept(logging.Handler):
    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(f"{record.name}: {record.getMessage()}")


@contextmanager
def messages() -> Iterator[list[str]]:
    """What the libraries log and warn of."""
    said: list[str] = []
    handler = _Kept(said)
    loggers = [logging.getLogger(library) for library in sorted(set(LIBRARIES.values()))]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield said
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        said += [f"{entry.category.__name__}: {entry.message}" for entry in warned if not internal(entry)]


def internal(entry: warnings.WarningMessage) -> bool:
    """Whether PyTorch warns of itself, which says nothing about the model."""
    return f"{os.sep}torch{os.sep}" in entry.filename


def loss_of(output: Any) -> Tensor:  # noqa: ANN401
    """The loss that a model gives, or the mean square of its tensors."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, Tensor):
        return loss.sum()
    found = [value for _, value in tensors("", output) if value.is_floating_point() and value.requires_grad]
    total = torch.zeros(())
    for value in found:
        total = total + value.float().pow(2).mean()
    return total


def tensors(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:  # noqa: ANN401
    """The tensors in an output, with names."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from tensors(f"{name}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from tensors(f"{name}[{number}]", item)
    elif hasattr(value, "__dict__"):
        for key, item in vars(value).items():
            if not key.startswith("_"):
                yield from tensors(f"{name}.{key}", item)


def describe(name: str, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """The tensors in an output, and its type."""
    yield f"type of {name}", type(value).__name__
    for inner, tensor in tensors(name, value):
        yield inner, of_tensor(tensor)


def of_tensor(value: Tensor | None) -> str:
    """The same text only for the same bits, dtype and layout; any NaN is one NaN, since addition picks either."""
    if value is None:
        return "None"
    data = value.detach().contiguous()
    if data.is_floating_point():
        data = torch.where(torch.isnan(data), torch.full_like(data, torch.nan), data)
    contents = data.flatten().view(torch.uint8).numpy().tobytes() if data.numel() else b""
    digest = hashlib.sha256(contents).hexdigest()[:16]
    return f"{data.dtype} {tuple(value.shape)} {value.stride()} {value.requires_grad} {digest}"


def timed(subject: Subject, row: Row) -> dict[str, Any]:
    """Seconds of the first call at batch 1 with inductor, and of those after it."""
    phase = next(phase for phase in phases(subject, row.phases) if phase.name in row.phases)
    length = phase.shapes[0][1]
    model = subject.model.train(phase.training)
    inputs = phase.inputs(1, length, generator(0, 1, length))
    compiled = torch.compile(model)
    seconds = []
    for _ in range(1 + WARM + TIMED):
        arguments: Inputs = copy.deepcopy(inputs)
        start = time.perf_counter()
        with torch.set_grad_enabled(phase.training):
            output = compiled(**arguments)
        if phase.training:
            torch.autograd.backward(loss_of(output))
        seconds.append(time.perf_counter() - start)
    return {"phase": phase.name, "cold": seconds[0], "steady": seconds[1 + WARM :]}


if __name__ == "__main__":
    sys.exit(main())
