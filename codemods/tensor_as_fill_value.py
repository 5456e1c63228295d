"""A tensor given as the number that `full_like` or `new_full` fills with.

Both read the number out of the tensor (GB0033). Filling an empty tensor with `fill_` takes the tensor as it is.

Before:

    y = torch.full_like(x, x.detach().amax())

After:

    y = torch.empty_like(x).fill_(x.detach().amax())

A tensor that requires a gradient, or has a dimension, is an error as a number, and none for `fill_`; a number that the
dtype of the result cannot hold is one, too. Where nothing shows that none of this happens it is assumed.

Stays away when the value may be a Python number, for other keywords than `dtype`, `device` and `memory_format`, and
for arguments that are unpacked.

Source: torch.full_like, torch.Tensor.fill_ (GB0033).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Category, DType, Kind, Value
from gbfix.codemods._idioms import Site, assumed, is_a_tensor, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.engine.model import Finding, Obligation, Rule

FILL_VALUE = ("GBF603", "tensor-as-fill-value")
_KEYWORDS = {"dtype", "device", "memory_format"}
_FITS = {"float32": ("float16", "bfloat16"), "float64": ("float16", "bfloat16", "float32")}
_ADVICE = "fill an empty tensor instead: torch.empty_like(x).fill_(value.detach())"


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        call = site.node
        assert isinstance(call, ast.Call)
        is_like = site.called() == "torch.full_like"
        is_new = isinstance(call.func, ast.Attribute) and call.func.attr == "new_full" and not site.called()
        if not is_like and not is_new:
            continue
        if view.project.torch.captures("full_like with a tensor" if is_like else "new_full with a tensor"):
            continue
        fill = _argument(call, 1, "fill_value")
        value = None if fill is None else site.value(fill)
        if fill is not None and value is not None and value.kind is Kind.TENSOR:
            yield _finding(site, call, fill, value)


def _argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if len(call.args) > index:
        return call.args[index]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _finding(site: Site, call: ast.Call, fill: ast.expr, value: Value) -> Finding:
    message = f"tensor {site.text(fill)} as a fill value"
    try:
        new, imports = _filled(site, call, fill)
        obligations = _obligations(site, call, fill, value)
    except RefusedError as refused:
        return site.refusal(FILL_VALUE, message, refused)
    return site.finding(FILL_VALUE, message, (site.replaced("fill an empty tensor", new, *imports), obligations))


def _filled(site: Site, call: ast.Call, fill: ast.expr) -> tuple[str, tuple[str, ...]]:
    size = _argument(
        call, 0, "size" if isinstance(call.func, ast.Attribute) and call.func.attr == "new_full" else "input"
    )
    others = [keyword for keyword in call.keywords if keyword.arg not in ("fill_value", "size", "input")]
    if size is None or len(call.args) > 2 or any(keyword.arg not in _KEYWORDS for keyword in others):
        reason = f"{site.text(call).splitlines()[0]} has other arguments"
        raise RefusedError("the call has a size, a value, dtype and device only", reason, site.line, _ADVICE)
    if not site.view.project.torch.captures("fill_ with a tensor"):
        reason = "the installed PyTorch does not capture fill_ with a tensor"
        raise RefusedError("PyTorch captures the replacement", reason, site.line, _ADVICE)
    if "\n" in site.text(call):
        raise RefusedError("the call is written on one line", "it is not", site.line, _ADVICE)
    imports: tuple[str, ...] = ()
    if isinstance(call.func, ast.Attribute) and call.func.attr == "new_full":
        function = f"{site.text(call.func.value)}.new_empty"
    else:
        name, is_new = torch_name(site.view, call)
        function, imports = f"{name}.empty_like", ("torch",) if is_new else ()
    arguments = [site.text(size), *(f"{keyword.arg}={site.text(keyword.value)}" for keyword in others)]
    return f"{function}({', '.join(arguments)}).fill_({site.text(fill)})", imports


def _obligations(site: Site, call: ast.Call, fill: ast.expr, value: Value) -> list[Obligation]:
    text, line = site.text(fill), site.line
    category = value.dtype.category if value.dtype is not None else None
    claims = [
        (value.is_scalar, "the fill value has no dimension", "its shape"),
        (
            not value.sources or category in (Category.BOOL, Category.INT),
            "the fill value requires no gradient",
            "whether it records one",
        ),
        (_holds(_result_dtype(site, call), value.dtype), "the result can hold the fill value", "its dtype"),
    ]
    found = [is_a_tensor(value, text, line)]
    for holds, claim, what in claims:
        reason = f"{what} is known" if holds else f"{what} is not known ({text})"
        found.append(proved(claim, reason, line) if holds else assumed(claim, reason, line))
    return found


def _result_dtype(site: Site, call: ast.Call) -> DType | None:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "new_full":
        if any(keyword.arg == "dtype" for keyword in call.keywords):
            return None
        return site.value(call.func.value).dtype
    return site.value(call).dtype


def _holds(result: DType | None, value: DType | None) -> bool:
    """True when no number of the one dtype is an error for the other."""
    if result is None or value is None:
        return False
    wider = isinstance(result.term, str) and value.term in _FITS.get(result.term, ())
    return result.term == value.term or value.category is Category.BOOL or wider


RULE = Rule(*FILL_VALUE, "a tensor as the fill value of full_like or new_full", __doc__, _find)
