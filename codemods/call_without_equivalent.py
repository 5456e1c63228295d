"""What Dynamo does not follow, and what cannot be put in other words at its place: it is explained, not changed.

Before:

    y = torch.nn.Linear(4, 4)(x)
    fields = dataclasses.asdict(batch)

A module that is made inside has new random weights at each call (GB0264); `dataclasses.asdict` copies tensors deeply
(GB4198); recurrent modules are left alone unless PyTorch is told otherwise (GB0014); gradients taken inside
(GB0123, GB9186), steps of an optimizer, sparse tensors (GB0277), addresses that are compared (GB5976) and
profiler ranges of CUDA break as well. Each has its own way out, which the advice says.

It is never rewritten: every one of these ways changes the interface of the function, a setting of the process, or what
is computed.

Source: torch.compile troubleshooting (GB0264, GB4198, GB0014, GB0123, GB9186, GB0277, GB5976).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._definitions import definitions
from gbfix.codemods._idioms import Site, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Finding, Rule

NO_EQUIVALENT = ("GBF610", "call-without-equivalent")


@dataclass(frozen=True)
class _Kind:
    """A sort of call. probe: the program that says whether PyTorch follows it; reason: why it cannot be replaced."""

    probe: str
    message: str
    reason: str
    advice: str


_MODULE = _Kind(
    "module with parameters",
    "module with parameters made in a compiled function",
    "each call makes new parameters, with new random numbers",
    "make it in __init__, or once outside; for a function without parameters of its own use torch.nn.functional",
)
_PARAMETER = _Kind(
    "torch.nn.Parameter of a new tensor",
    "parameter made in a compiled function",
    "each call makes a new parameter, which no optimizer knows",
    "make it in __init__, or set torch._dynamo.config.graph_break_on_nn_param_ctor = False",
)
_ASDICT = _Kind(
    "dataclasses.asdict of tensors",
    "dataclass with tensors copied to a dict",
    "it copies every tensor deeply, and one with a gradient history is an error",
    "write the dict of the fields, with .clone() where a copy is wanted: {'a': batch.a, 'b': batch.b}",
)
_RECURRENT = _Kind(
    "LSTM",
    "recurrent module called",
    "PyTorch leaves it to its own kernels",
    "set torch._dynamo.config.allow_rnn = True before compiling, which makes compilation slow, or accept the break",
)
_GRAD = _Kind(
    "torch.autograd.grad",
    "gradient taken in a compiled function",
    "PyTorch does not trace autograd",
    "use torch.func.grad, take the gradient outside, or set torch._dynamo.config.trace_autograd_ops = True",
)
_BACKWARD = _Kind(
    "Tensor.backward",
    "backward called in a compiled function",
    "PyTorch does not trace autograd",
    "return the loss and call backward outside, or set torch._dynamo.config.trace_autograd_ops = True",
)
_OPTIMIZER = _Kind(
    "step of an optimizer",
    "optimizer used in a compiled function",
    "its state is made and changed outside of any graph",
    "call it outside the function, or compile optimizer.step for itself",
)
_SPARSE = _Kind(
    "sparse tensor",
    "sparse tensor in a compiled function",
    "PyTorch traces dense tensors",
    "convert outside of the function, or compute with the dense tensor",
)
_ADDRESS = _Kind(
    "comparison of data_ptr",
    "addresses of tensors compared",
    "a graph has none",
    "compare objects with `is`, or decide outside the function",
)
_NVTX = _Kind(
    "torch.cuda.nvtx.range_push",
    "profiler range in a compiled function",
    "a range is no operation of the graph, and without it a profile shows less",
    "use torch.profiler.record_function, or put push and pop behind `if not torch.compiler.is_compiling()`, both of "
    "them, which leaves the range out of compiled code",
)

_FUNCTIONS = {
    "dataclasses.asdict": _ASDICT,
    "dataclasses.astuple": _ASDICT,
    "torch.autograd.grad": _GRAD,
    "torch.autograd.backward": _BACKWARD,
    "torch.cuda.nvtx.range_push": _NVTX,
    "torch.cuda.nvtx.range": _NVTX,
    "torch.nn.Parameter": _PARAMETER,
    "torch.nn.parameter.Parameter": _PARAMETER,
}
_METHODS = {"backward": _BACKWARD, "to_sparse": _SPARSE, "to_sparse_csr": _SPARSE, "to_sparse_coo": _SPARSE}
_RECURRENT_CLASSES = {f"torch.nn.{name}" for name in ("RNN", "LSTM", "GRU")}
_WITH_PARAMETERS = {
    "Linear",
    "Bilinear",
    "Embedding",
    "EmbeddingBag",
    "LayerNorm",
    "RMSNorm",
    "GroupNorm",
    "MultiheadAttention",
    "PReLU",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    *(f"Conv{d}d" for d in (1, 2, 3)),
    *(f"ConvTranspose{d}d" for d in (1, 2, 3)),
    *(f"BatchNorm{d}d" for d in (1, 2, 3)),
    *(name.rpartition(".")[2] for name in _RECURRENT_CLASSES),
}


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call, ast.Compare):
        kind = _kind(site)
        if kind is None or view.project.torch.captures(kind.probe):
            continue
        refused = RefusedError("it can be replaced at its place", kind.reason, site.line, kind.advice)
        yield site.refusal(NO_EQUIVALENT, f"{kind.message}: {site.text(site.node).splitlines()[0]}", refused)


def _kind(site: Site) -> _Kind | None:
    if isinstance(site.node, ast.Compare):
        parts = [site.node.left, *site.node.comparators]
        return _ADDRESS if any(_method(part) == "data_ptr" for part in parts) else None
    call = site.node
    assert isinstance(call, ast.Call)
    called = site.called()
    if called:
        kind = _FUNCTIONS.get(called)
        if kind is _ASDICT and not _holds_tensors(site, call):
            return None
        is_layer = called.startswith("torch.nn.") and called.removeprefix("torch.nn.") in _WITH_PARAMETERS
        return _MODULE if is_layer and not _without_parameters(call) else kind
    made = _made_by(site, call.func)
    if made in _RECURRENT_CLASSES:
        return _RECURRENT
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in ("step", "zero_grad") and _made_by(site, call.func.value).startswith("torch.optim."):
        return _OPTIMIZER
    return _METHODS.get(call.func.attr) if site.value(call.func.value).tensor_like else None


def _method(node: ast.expr) -> str:
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _without_parameters(call: ast.Call) -> bool:
    """True for a norm that is told to have none."""
    words = ("elementwise_affine", "affine")
    return any(
        keyword.arg in words and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in call.keywords
    )


def _made_by(site: Site, node: ast.expr) -> str:
    """The library class whose object a name or attribute holds, empty when it is not known to be one."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return ""
    found = {
        definition.view.names.qualified(definition.node.func) or "" if isinstance(definition.node, ast.Call) else ""
        for definition in definitions(site.view, node)
    }
    return found.pop() if len(found) == 1 else ""


def _holds_tensors(site: Site, call: ast.Call) -> bool:
    """True for an object of a class of the project that has a field annotated as a tensor."""
    given = call.args[0] if len(call.args) == 1 else None
    made = given.func if isinstance(given, ast.Call) else given
    if not isinstance(made, ast.Name | ast.Attribute):
        return False
    for definition in definitions(site.view, made):
        node = definition.node
        if isinstance(node, ast.Call):
            found = [one.node for one in definitions(definition.view, node.func)]
        elif isinstance(node, ast.arg) and node.annotation is not None:
            found = [one.node for one in definitions(definition.view, node.annotation)]
        else:
            found = [node]
        if any(isinstance(one, ast.ClassDef) and _has_tensor_field(one) for one in found):
            return True
    return False


def _has_tensor_field(made: ast.ClassDef) -> bool:
    return any(isinstance(part, ast.AnnAssign) and "Tensor" in ast.unparse(part.annotation) for part in made.body)


RULE = Rule(*NO_EQUIVALENT, "what Dynamo does not follow, explained with its way out", __doc__, _find, rewrites=False)
