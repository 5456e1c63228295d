"""Tensors that Python sorts, by their values or by a key that is one.

`sorted` compares tensors and asks each time which is smaller, which Dynamo does not follow (GB0207, GB0193). Stacked,
they are sorted by an operation; a stable one keeps the order of equal ones, as Python does.

Before:

    y = sorted([x.sum(), x.mean()])[0]
    z = max([x, -x], key=lambda t: t.sum())

After:

    y = [*torch.stack([x.sum(), x.mean()]).sort(stable=True).values.unbind()][0]
    z = torch.stack([x, -x])[torch.stack([t.sum() for t in [x, -x]]).argsort(stable=True, descending=True)[:1]][0]

NaN is greater than everything for `torch.sort`, and neither smaller nor greater for Python, so that floating tensors
are assumed to have none. What comes out are new tensors, and with gradients every tensor that was sorted gets one.

Stays away when the tensors do not stand in a list or tuple, when one of them does more than compute, and for
`list.sort`, `min` and `max` without a key (which PyTorch follows).

Source: Python sorting how-to, torch.sort (GB0207, GB0193).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.project import FileView
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._idioms import Site, assumed, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.engine.model import Finding, Obligation, Rule

SORTED_TENSORS = ("GBF609", "sorted-tensors")
_ADVICE = "stack the tensors and use torch.sort, or sort outside the compiled function"


def _find(view: FileView) -> Iterator[Finding]:
    torch = view.project.torch
    for site in sites(view, ast.Call):
        call = site.node
        assert isinstance(call, ast.Call)
        name = next((one for one in ("sorted", "max", "min") if view.names.is_builtin(call.func, one)), "")
        key = next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None)
        if not name or not call.args or (name != "sorted" and key is None):
            continue
        probe = "sorted of tensors" if key is None else "sorted by a tensor" if name == "sorted" else "max by a tensor"
        elements = _elements(call)
        values = [site.value(element) for element in elements]
        if not values or any(value.kind is not Kind.TENSOR for value in values) or torch.captures(probe):
            continue
        keys = values if key is None else _keys(site, key, values)
        if all(value.kind is Kind.TENSOR for value in keys):
            yield _finding(site, call, name, key, elements, values, keys)


def _elements(call: ast.Call) -> list[ast.expr]:
    """The tensors that are sorted, where they are written down."""
    (first, *others) = call.args
    given = first.elts if isinstance(first, ast.List | ast.Tuple) and not others else call.args if others else []
    return [] if any(isinstance(one, ast.Starred) for one in given) else list(given)


def _keys(site: Site, key: ast.expr, values: Sequence[Value]) -> list[Value]:
    """What a lambda gives for each of the tensors; for another key nothing is known."""
    state = site.state
    if state is None or not isinstance(key, ast.Lambda) or len(key.args.args) != 1 or key.args.defaults:
        return [Value()]
    name = key.args.args[0].arg
    return [
        Evaluation(site.flow.context, {**state.values, name: value}, state.gradients_off).value(key.body)
        for value in values
    ]


def _finding(
    site: Site,
    call: ast.Call,
    name: str,
    key: ast.expr | None,
    elements: Sequence[ast.expr],
    values: Sequence[Value],
    keys: Sequence[Value],
) -> Finding:
    message = f"tensors put in order by Python: {site.text(call).splitlines()[0]}"
    try:
        new, is_new = _sorted(site, call, name, key, elements)
        obligations = _obligations(site, elements, values, keys)
    except RefusedError as refused:
        return site.refusal(SORTED_TENSORS, message, refused)
    fix = site.replaced("sort with torch.sort", new, *(["torch"] if is_new else []))
    return site.finding(SORTED_TENSORS, message, (fix, obligations))


def _sorted(
    site: Site, call: ast.Call, name: str, key: ast.expr | None, elements: Sequence[ast.expr]
) -> tuple[str, bool]:
    others = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg != "key"}
    reverse = others.pop("reverse", None)
    claim = "the call is one of the forms that are known"
    if others or not isinstance(reverse, ast.Constant | None) or "\n" in site.text(call):
        raise RefusedError(claim, f"{site.text(call).splitlines()[0]} has other arguments", site.line, _ADVICE)
    for element in elements:
        state = site.state
        if state is None or not site.flow.evaluate(element, state)[1].effects.pure:
            raise RefusedError("the tensors only compute", f"{site.text(element)} does more", site.line, _ADVICE)
    torch, is_new = torch_name(site.view, call)
    listed = f"[{', '.join(site.text(element) for element in elements)}]"
    down = name == "max" or (reverse is not None and bool(reverse.value))
    options = "stable=True, descending=True" if down else "stable=True"
    if not isinstance(key, ast.Lambda):
        return f"[*{torch}.stack({listed}).sort({options}).values.unbind()]", is_new
    made = f"[{site.text(key.body)} for {key.args.args[0].arg} in {listed}]"
    order = f"{torch}.stack({made}).argsort({options})"
    if name == "sorted":
        return f"[*{torch}.stack({listed})[{order}].unbind()]", is_new
    return f"{torch}.stack({listed})[{order}[:1]][0]", is_new


def _obligations(
    site: Site, elements: Sequence[ast.expr], values: Sequence[Value], keys: Sequence[Value]
) -> list[Obligation]:
    line = site.line
    text = site.text(elements[0])
    categories = {value.dtype.category if value.dtype is not None else None for value in keys}
    facts = [
        (all(value.is_scalar for value in keys), "what is compared has no dimension", "its shape"),
        (len({value.shape for value in values}) == 1, "the tensors have one shape", "their shapes"),
        (len({value.dtype for value in values}) == 1, "the tensors have one dtype", "their dtypes"),
        (categories <= {Category.BOOL, Category.INT}, "nothing that is compared is NaN", "their values"),
        (all(value.fresh for value in values), "identity and strides do not matter", "who else holds them"),
        (not any(value.sources for value in values), "gradients reach the same tensors", "where gradients go"),
    ]
    found = []
    for holds, claim, what in facts:
        reason = f"{what}: {text} and the others" if holds else f"{what} may differ: {text} and the others"
        found.append(proved(claim, reason, line) if holds else assumed(claim, reason, line))
    for value in values:
        for assumption in sorted(value.assumed)[:1]:
            found.append(assumed("the value is a tensor", assumption.claim, assumption.line or line))
    return list(dict.fromkeys(found))


RULE = Rule(*SORTED_TENSORS, "tensors that Python sorts by their values", __doc__, _find)
