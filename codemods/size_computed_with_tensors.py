"""A size computed with tensors and read back.

A tensor made of sizes is data for Dynamo, so that `int(...)` or `.item()` of it breaks the graph (GB0124). Python
computes the same integer.

Before:

    half = int(torch.div(x.shape[0], 2, rounding_mode="floor"))
    y = x[:half] * 2

After:

    half = x.shape[0] // 2
    y = x[:half] * 2

The same holds for `int(torch.prod(torch.tensor(x.shape[1:])))`, which is `math.prod(x.shape[1:])`: right for empty
tensors, too, where -1 in a `view` is ambiguous. Without the `int` the product is a tensor that `view` reads; it becomes
an integer when it is only used as a size, and there is one: the product of none is the float 1.0.

Stays away when something besides sizes and whole numbers is computed with, when the divisor is not a positive
constant, and when a product that is a tensor is used as one.

Source: torch.div, math.prod (GB0124).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._idioms import Site, assumed, sites
from gbfix.codemods._quotients_of_sizes import is_used_as_size, quotient, shape_obligation
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Discharge, Finding, Obligation, Rule

SIZE_WITH_TENSORS = ("GBF604", "size-computed-with-tensors")


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        call = site.node
        assert isinstance(call, ast.Call)
        found = _of_read(site, call) or _of_size(site, call)
        if found is not None and not view.project.torch.captures("int of a tensor of sizes"):
            yield found


def _of_read(site: Site, call: ast.Call) -> Finding | None:
    """The finding for `int(...)` or `.item()` of a quotient or product."""
    match call:
        case ast.Call(func=func, args=[ast.Call() as inner], keywords=[]) if site.view.names.is_builtin(func, "int"):
            return _quotient(site, inner) or _product(site, inner, whole=True)
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr="item"), args=[], keywords=[]):
            return _quotient(site, inner) or _product(site, inner, whole=False)
    return None


def _of_size(site: Site, call: ast.Call) -> Finding | None:
    """The finding for a quotient or product that nobody reads but as a size."""
    known = _quotient(site, call) or _product(site, call, whole=False)
    return known if known is not None and is_used_as_size(site, call) else None


def _quotient(site: Site, call: ast.Call) -> Finding | None:
    found = quotient(site, call)
    return _finding(site, *found) if found is not None else None


def _product(site: Site, call: ast.Call, *, whole: bool) -> Finding | None:
    names = site.view.names
    match call:
        case ast.Call(func=func, args=[ast.Call() as made], keywords=[]) if names.qualified(func) == "torch.prod":
            pass
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="prod"), args=[], keywords=[]):
            pass
        case _:
            return None
    if names.qualified(made.func) != "torch.tensor" or len(made.args) != 1 or made.keywords:
        return None
    (given,) = made.args
    shape = given.value if isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Slice) else given
    tensor = shape_obligation(site, shape)
    if tensor is None:
        return None
    # torch.prod of no size is the float 1.0, which `int` makes 1, and which is an error as a size.
    reason = f"nothing shows it of {site.text(given)}"
    obligations = [tensor] if whole else [tensor, assumed("there is a size to multiply", reason, site.line)]
    return _finding(site, f"math.prod({site.text(given)})", obligations, "math")


def _finding(site: Site, new: str, tensors: list[Obligation], *imports: str) -> Finding:
    message = f"size computed with tensors: {site.text(site.node).splitlines()[0]}"
    for name in imports:
        bindings = site.view.names.bindings(name, site.node)
        if bindings and {binding.qualified for binding in bindings} != {name}:
            refused = RefusedError(f"{name} is the module", f"the name {name} is something else here", site.line, new)
            return site.refusal(SIZE_WITH_TENSORS, message, refused)
    exact = Obligation(
        "the integers are the same", Discharge.PROVED, "sizes are not negative, and small for 64 bits", site.line
    )
    return site.finding(
        SIZE_WITH_TENSORS, message, (site.replaced("compute it in Python", new, *imports), [*tensors, exact])
    )


RULE = Rule(*SIZE_WITH_TENSORS, "a size computed with tensors and read back", __doc__, _find)
