"""What a script that shows a difference is put together from: `reproduce` writes the source of these into it.

Hence they need nothing but Python and torch, and nothing of each other but what `reproduce` knows of.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import itertools
import logging
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch


def compile_as(backend: str, everything: list[Any]) -> None:
    """Compile with this backend whatever the program compiles ("" for not at all), and note what that is."""
    compile_function = torch.compile

    def replacement(model: Any = None, **options: Any) -> Any:  # noqa: ANN401
        if sys._getframe(1).f_globals.get("__name__", "").split(".")[0] == "torch":
            return compile_function(model, **options)  # PyTorch's own
        if model is None:
            return lambda function: replacement(function, **options)
        everything.append(model)
        kept = {name: value for name, value in options.items() if name in ("fullgraph", "dynamic", "disable")}
        return compile_function(model, backend=backend, **kept) if backend else model

    def compile_module(module: torch.nn.Module, *_: Any, **options: Any) -> None:  # noqa: ANN401
        module._compiled_call_impl = replacement(module._call_impl, **options) if backend else None

    for place, name, function in (
        (torch, "compile", replacement),
        (torch.compiler, "compile", replacement),
        (torch.nn.Module, "compile", compile_module),
    ):
        setattr(place, name, function)


class Finder:
    """Imports the files of a version in place of those of the project."""

    def __init__(self, folder: Path, files: dict[str, str], project: str) -> None:
        """files: texts by path in the project; they are written below `folder`."""
        self.found = {}
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            inside = [str(Path(project, path).parent)] if path.endswith("/__init__.py") else None
            self.found[name] = (folder / path, inside)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """The file of a module, None for one that is the same in both versions."""
        if name not in self.found:
            return None
        file, inside = self.found[name]
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)


def parts(name: str, value: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """A value and all that it holds, by name."""
    yield name, value
    if isinstance(value, (bool, int, float, complex, str, bytes, type, type(None), ModuleType)) or id(value) in seen:
        return
    seen.add(id(value))
    items: list[tuple[str, Any]] = []
    if isinstance(value, torch.Tensor):
        items = [(".grad", value.grad)] if value.is_leaf and value.grad is not None else []
    elif isinstance(value, torch.nn.Module):
        common = vars(torch.nn.Module()).keys() - {"training"}
        own = {key: item for key, item in vars(value).items() if key not in common}
        held = {**value._parameters, **value._buffers, **value._modules, **own}
        items = [(f".{key}", item) for key, item in held.items()]
        items.append(("[number of hooks]", sum(len(item) for key, item in vars(value).items() if "_hooks" in key)))
    elif isinstance(value, dict):
        items = [(f"[{key!r}]", item) for key, item in value.items()]
    elif isinstance(value, (set, frozenset)):
        items = [(f"[{index}]", item) for index, item in enumerate(sorted(value, key=repr))]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        items = [(f".{key}", getattr(value, key)) for key in value._fields]
    elif isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
        items = [(f"[{index}]", item) for index, item in enumerate(value)]
    elif hasattr(value, "__dict__") and not callable(getattr(value, "__next__", None)):
        items = [(f".{key}", item) for key, item in vars(value).items() if not key.startswith("__")]
    for key, item in items:
        yield from parts(name + key, item, seen)


def value_lines(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401
    """The elements of a tensor one by one, or a plain value."""
    if not isinstance(value, torch.Tensor):
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, range)):
            yield f"{name} = {value!r}"
        elif isinstance(value, (torch.Generator, random.Random)):
            state = value.getstate() if isinstance(value, random.Random) else value.get_state().tolist()
            yield f"{name} is at {hashlib.sha256(repr(state).encode()).hexdigest()[:16]}"
        elif not hasattr(value, "__dict__") and not hasattr(value, "__len__") and " at 0x" not in repr(value):
            yield f"{name} = {value!r}"
        elif hasattr(value, "dtype") and hasattr(value, "tolist"):  # of numpy
            yield f"{name} = {value.tolist()!r}"
        return
    dense = value.detach().cpu()
    dense = dense.int_repr() if dense.is_quantized else dense if dense.layout == torch.strided else dense.to_dense()
    numbers = dense.resolve_conj().resolve_neg().reshape(-1).tolist()
    if len(numbers) > 10_000:
        yield f"{name}: {len(numbers)} elements with digest {hashlib.sha256(repr(numbers).encode()).hexdigest()[:16]}"
        return
    if not numbers:
        yield f"{name}: no elements"
    for index, number in zip(itertools.product(*map(range, dense.shape)), numbers, strict=True):
        yield f"{name}[{', '.join(map(str, index))}] = {number!r}" if index else f"{name} = {number!r}"


def strides(tensor: torch.Tensor) -> object:
    """The strides that matter: a dimension of size 1, and a tensor without elements, can have any."""
    if tensor.layout != torch.strided:
        return tensor.layout
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1 and tensor.numel()]


def memory(tensor: torch.Tensor) -> range:
    """The bytes in memory from the first element to the last."""
    if not tensor.numel() or tensor.layout != torch.strided:
        return range(0)
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return range(tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size())


def exception_text(error: BaseException | None) -> str:
    """Type, text and causes of an exception, without what the compiler adds to its text."""
    if error is None:
        return "returns"
    text = re.split(r"\n\n(?:from user code:|Set TORCHDYNAMO_VERBOSE=1)", str(error))[0]
    text = re.sub(r"0x[0-9a-f]+", "0x...", "\n".join([text, *getattr(error, "__notes__", ())]))
    causes: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(causes) < 10:
        cause = cause.__cause__ if cause.__cause__ or cause.__suppress_context__ else cause.__context__
        if cause is not None and not type(cause).__module__.startswith("torch."):
            causes.append(type(cause).__qualname__)
    return f"raises {type(error).__qualname__}: {text!r}" + (f" from {', '.join(causes)}" if causes else "")


def seed_generators(seed: int) -> None:
    """Seed the generators of torch, Python and, where it is loaded, numpy."""
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


class Messages(list[list[str]]):
    """What is printed, logged and warned, in the order in which it happens."""

    def record(self, *, compiled: bool) -> None:
        """Begin to do so. compiled: the program is compiled, but this is not to be."""
        sys.stdout, sys.stderr = Stream("stdout", self), Stream("stderr", self)

        def handle(_: logging.Logger, record: logging.LogRecord) -> None:
            if record.name.split(".")[0] != "torch":
                self.append([f"log {record.name} {record.levelname}", record.getMessage()])

        def show(message: Warning | str, category: type[Warning], filename: str, *_: object) -> None:
            if "/torch/" not in filename.replace("\\", "/"):
                self.append([f"warning {category.__name__}", str(message)])

        hidden: Callable[[Any], Any] = torch.compiler.disable if compiled else lambda function: function
        logging.Logger.callHandlers = hidden(handle)  # type: ignore[method-assign]
        logging.getLogger().setLevel(1)
        warnings.simplefilter("always")
        warnings.showwarning = hidden(show)


class Stream(io.TextIOBase):
    """Notes what is written to a standard stream."""

    def __init__(self, name: str, messages: list[list[str]]) -> None:
        self.kind = name
        self.messages = messages

    def write(self, text: str) -> int:
        """Note the text, together with what was written right before."""
        if self.messages and self.messages[-1][0] == self.kind:
            self.messages[-1][1] += text
        else:
            self.messages.append([self.kind, text])
        return len(text)


def random_lines() -> Iterator[str]:
    """What each generator of random numbers is at."""
    states = {"torch": torch.get_rng_state().tolist(), "python": random.getstate()}
    for index in range(torch.cuda.device_count() if torch.cuda.is_initialized() else 0):  # type: ignore[no-untyped-call]
        states[f"cuda:{index}"] = torch.cuda.get_rng_state(index).tolist()
    if "numpy" in sys.modules:
        states["numpy"] = [str(part) for part in sys.modules["numpy"].random.get_state()]
    for name, state in states.items():
        yield f"random generator {name} is at {hashlib.sha256(repr(state).encode()).hexdigest()[:16]}"


def mode_lines() -> Iterator[str]:
    """The switches of the process."""
    yield f"grad mode: {torch.is_grad_enabled()}"
    yield f"inference mode: {torch.is_inference_mode_enabled()}"
    yield f"default dtype: {torch.get_default_dtype()}"
    yield f"default device: {torch.get_default_device()}"
    yield f"deterministic algorithms: {torch.are_deterministic_algorithms_enabled()}"
    yield f"warn only: {torch.is_deterministic_algorithms_warn_only_enabled()}"
    yield f"anomaly detection: {torch.is_anomaly_enabled()}"
    yield f"matmul precision: {torch.get_float32_matmul_precision()}"
    for device in ("cpu", "cuda"):
        yield f"autocast {device}: {torch.is_autocast_enabled(device)} {torch.get_autocast_dtype(device)}"
