"""Run tiny encoder layers of the transformers that is first on the path, and print all that can be observed, as JSON.

`transformers_check.py` runs this once with the library as installed and once with rewritten files, and compares. The
layers are built from configurations with random weights; nothing is downloaded. Each is run on values on both sides
of its finite check, in training and evaluation, eagerly and compiled with a backend that only counts graphs.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product

import torch
import torch._dynamo
from torch import Tensor, nn

MODULE = "transformers.models.{0}.modeling_{0}"
LAYERS = ("detr", "bart")
WIDTH = 16
BATCH, LENGTH = 2, 5
VALUES = ("ordinary", "largest", "overflow", "nan")
"""What reaches the finite check: small numbers; the largest finite number, which an unconditional clamp would
change in half precision; that number beside infinities; a NaN."""


@dataclass(frozen=True)
class Case:
    """One layer in one setting, and what reaches its finite check."""

    layer: str
    dtype: torch.dtype
    training: bool
    values: str

    @property
    def setting(self) -> str:
        """The setting in words, without the values."""
        mode = "train" if self.training else "eval"
        return f"{self.layer} {str(self.dtype).removeprefix('torch.')} {mode}"


@dataclass(frozen=True)
class Observation:
    """What one layer did. Tensors are described by dtype, shape, strides and all their bits."""

    setting: str
    values: str
    not_finite_before_check: int
    not_finite_in_output: int
    graphs: int
    in_one_graph: bool
    """Whether torch.compile(fullgraph=True) takes it: a break that no operation follows makes no second graph."""
    eager: dict[str, str]
    compiled: dict[str, str]


class CountingBackend:
    """A torch.compile backend that runs what was captured as it is, and counts it."""

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, module: torch.fx.GraphModule, _inputs: list[Tensor]) -> Callable[..., object]:
        """Count one graph."""
        self.graphs += 1
        return module.forward


def cases() -> Iterator[Case]:
    """Every setting: DETR checks its values while training, BART in half precision."""
    for training, values in product((True, False), VALUES):
        yield Case("detr", torch.float32, training, values)
    for dtype, training, values in product((torch.float16, torch.float32), (True, False), VALUES):
        yield Case("bart", dtype, training, values)


def build(case: Case) -> nn.Module:
    """A tiny layer with fixed random weights. Dropout is on, so that a changed use of random numbers shows."""
    torch.manual_seed(0)
    library = importlib.import_module(MODULE.format(case.layer))
    prefix = case.layer.title()
    config = getattr(library, f"{prefix}Config")(
        d_model=WIDTH, encoder_attention_heads=2, encoder_ffn_dim=2 * WIDTH, dropout=0.1
    )
    config._attn_implementation = "eager"
    layer = getattr(library, f"{prefix}EncoderLayer")(config)
    assert isinstance(layer, nn.Module)
    return layer.to(case.dtype).train(case.training)


def set_values(layer: nn.Module, values: str) -> Tensor:
    """Make the last layer norm of a layer give the named kind of values, and return the input to call it with."""
    norm = layer.get_submodule("final_layer_norm")
    assert isinstance(norm, nn.LayerNorm)
    hidden = torch.randn(BATCH, LENGTH, WIDTH, generator=torch.Generator().manual_seed(1)).to(norm.weight.dtype)
    largest = torch.finfo(norm.weight.dtype).max
    with torch.no_grad():
        if values in ("largest", "overflow"):
            norm.weight[0] = 0.0
            norm.bias[0] = largest
        if values == "overflow":
            norm.weight[1:] = largest
        if values == "nan":
            hidden[0, 0, 0] = torch.nan
    return hidden.requires_grad_()


def observe(setting: str, values: str, make: Callable[[], nn.Module]) -> Observation:
    """Run fresh layers on the named values, eagerly and compiled. They need a layer norm named `final_layer_norm`."""

    def prepared() -> tuple[nn.Module, Tensor]:
        layer = make()
        return layer, set_values(layer, values)

    layer, hidden = prepared()
    seen: list[Tensor] = []
    layer.get_submodule("final_layer_norm").register_forward_hook(lambda _module, _args, out: seen.append(out.detach()))
    output, eager = _run(layer, layer, hidden)

    layer, hidden = prepared()
    backend = CountingBackend()
    torch._dynamo.reset()
    _, compiled = _run(torch.compile(layer, backend=backend), layer, hidden)
    before_check, after_check = _not_finite(seen[-1]), _not_finite(output)
    one_graph = _fits_one_graph(*prepared())
    return Observation(setting, values, before_check, after_check, backend.graphs, one_graph, eager, compiled)


def _fits_one_graph(layer: nn.Module, hidden: Tensor) -> bool:
    torch._dynamo.reset()
    try:
        torch.compile(layer, backend="eager", fullgraph=True)(hidden, attention_mask=None)
    except torch._dynamo.exc.Unsupported:
        return False
    return True


def _run(call: Callable[..., Tensor], layer: nn.Module, hidden: Tensor) -> tuple[Tensor, dict[str, str]]:
    """Call forwards and backwards, and describe the output, every gradient, and the random state afterwards."""
    torch.manual_seed(2)
    output = call(hidden, attention_mask=None)
    weights = torch.linspace(-1.0, 1.0, output.numel()).reshape(output.shape).to(output.dtype)
    torch.autograd.backward(output, weights)
    described = {"output": describe(output), "random state": describe(torch.get_rng_state())}
    described["gradient of the input"] = describe(hidden.grad)
    for name, parameter in layer.named_parameters():
        described[f"gradient of {name}"] = describe(parameter.grad)
    return output.detach(), described


def describe(value: Tensor | None) -> str:
    """A tensor as text: two are the same text only when they are the same to the last bit. None is not zero."""
    if value is None:
        return "None"
    data = value.detach().contiguous()
    bits = data.flatten().view(torch.uint8).numpy().tobytes().hex()
    return f"{data.dtype} {tuple(value.shape)} {value.stride()} {value.requires_grad} {bits}"


def _not_finite(value: Tensor) -> int:
    return int((~torch.isfinite(value)).sum())


def main() -> None:
    """Print the observations, and the files they come from, as one JSON document."""
    observations = [asdict(observe(case.setting, case.values, partial(build, case))) for case in cases()]
    files = [importlib.import_module(MODULE.format(layer)).__file__ for layer in LAYERS]
    json.dump({"files": files, "observations": observations}, sys.stdout)


if __name__ == "__main__":
    main()
