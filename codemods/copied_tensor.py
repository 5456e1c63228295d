"""A tensor copied with `copy.deepcopy`.

Dynamo does not follow what `copy.deepcopy` does to a tensor (GB4198). Of a tensor that requires no gradient, `clone`
makes the same copy: values, dtype, device, and strides where the elements lie without gaps.

Before:

    y = copy.deepcopy(x)
    z = y.add_(1.0) * x

After:

    y = x.detach().clone()
    z = y.add_(1.0) * x

A tensor that requires a gradient is copied to a new leaf, which `clone` does not make, and the result of an operation
that recorded one cannot be copied so at all: it raises. The copy then belongs outside the compiled function.
`deepcopy` also copies what hangs on a tensor, its `.grad` and Python attributes; one without a gradient hardly has any.

Stays away when the tensor requires a gradient in a run, is an attribute of the module (a parameter keeps its class),
or when there is a `memo`. Of lists, dicts and objects nothing is said: PyTorch copies those that hold no tensors.

Source: Python's copy module, torch.Tensor.clone (GB4198).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis import values as v
from gbfix.analysis.project import FileView
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._idioms import Site, assumed, is_a_tensor, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Obligation, Rule

COPIED_TENSOR = ("GBF601", "copied-tensor")
_ADVICE = (
    "make the copy in the code that calls the compiled function, or write x.clone() where gradients may flow through it"
)


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        if site.called() == "copy.deepcopy" and not view.project.torch.captures("copy.deepcopy of a tensor"):
            call = site.node
            assert isinstance(call, ast.Call)
            value = site.value(call.args[0]) if call.args else v.UNKNOWN
            if value.tensor_like and not (value.kind is Kind.MAYBE and not isinstance(call.args[0], ast.Name)):
                yield _finding(site, call, value)


def _finding(site: Site, call: ast.Call, value: Value) -> Finding:
    text = site.text(call.args[0])
    message = f"deep copy of {text}"
    try:
        obligations = _obligations(site, call, value, text)
    except RefusedError as refused:
        return site.refusal(COPIED_TENSOR, message, refused)
    atom = isinstance(call.args[0], ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    new = f"{text if atom else f'({text})'}.{'' if _without_gradient(value) else 'detach().'}clone()"
    return site.finding(COPIED_TENSOR, message, (site.replaced("copy with clone", new), obligations))


def _obligations(site: Site, call: ast.Call, value: Value, text: str) -> list[Obligation]:
    line = site.line
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        raise RefusedError("the copy is a plain one", f"{site.text(call)} keeps a record of copies", line, _ADVICE)
    if "\n" in text:
        raise RefusedError("the tensor is written on one line", f"{text.splitlines()[0]} ...", line, _ADVICE)
    if isinstance(call.args[0], ast.Attribute):
        raise RefusedError("the tensor is no parameter", f"{text} may be one, whose copy is one too", line, _ADVICE)
    kind = is_a_tensor(value, text, line)
    claim = "the copied tensor requires no gradient"
    if _without_gradient(value):
        gradient = proved(claim, f"{text} records none", line)
    elif value.kind is Kind.TENSOR and not value.assumed and site.view.observed(line) is not None and _seen(site, text):
        raise RefusedError(claim, f"{text} required one in the run", line, _ADVICE)
    else:
        gradient = assumed(claim, f"nothing shows that {text} requires none", line)
    claim = "the copied tensor has no gaps between its elements"
    if v.is_dense(value.layout):
        return [kind, gradient, proved(claim, f"the strides of {text} are known", line)]
    return [kind, gradient, assumed(claim, f"the strides of {text} are not known", line)]


def _without_gradient(value: Value) -> bool:
    category = value.dtype.category if value.dtype is not None else None
    return not value.sources or category in (Category.BOOL, Category.INT)


def _seen(site: Site, text: str) -> bool:
    observed = site.view.observed(site.line)
    return observed is not None and text in observed.names()


RULE = Rule(*COPIED_TENSOR, "a tensor copied with copy.deepcopy", __doc__, _find)
