"""Quotients of sizes that are computed with torch.div, and what may be done with an integer in their place."""

from __future__ import annotations

import ast

from gbfix.analysis.names import Binding, Names
from gbfix.analysis.observed import Observed
from gbfix.analysis.values import Kind
from gbfix.codemods._idioms import Site, assumed, is_a_tensor, proved
from gbfix.engine.model import Obligation

POSITIVE = "the divisor of the size is positive"
_METHODS = frozenset(
    (
        *("view", "reshape", "expand", "repeat", "unflatten", "as_strided", "narrow", "split", "chunk"),
        *("new_zeros", "new_ones", "new_empty", "new_full"),
    )
)
_FUNCTIONS = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "arange", "eye", "reshape"))
_MOST_STEPS = 12


def is_used_as_size(site: Site, node: ast.expr, steps: int = 0) -> bool:
    """True when an integer is all that is made of the value: a size, a bound, or arithmetic that ends as one."""
    parent = site.view.source.parents[node]
    if steps > _MOST_STEPS:
        return False
    match parent:
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
            other = right if left is node else left
            return _is_integer(site, other) and is_used_as_size(site, parent, steps + 1)
        case ast.Tuple() | ast.List():
            return is_used_as_size(site, parent, steps + 1)
        case ast.keyword(arg="size" | "shape"):
            call = site.view.source.parents[parent]
            return isinstance(call, ast.Call) and takes_sizes(site.view.names, call)
        case ast.Call(args=args) if node in args:
            return takes_sizes(site.view.names, parent)
        case ast.Slice():
            return True
        case ast.Subscript(value=value, slice=ast.Constant(value=int())) if value is node:
            return isinstance(parent.ctx, ast.Load) and is_used_as_size(site, parent, steps + 1)
        case ast.Assign(targets=[ast.Name() as name]):
            return all_uses_are(site, name, steps)
    return False


def all_uses_are(site: Site, name: ast.Name, steps: int = 0) -> bool:
    """True when a name that gets its only value here is only used as a size."""
    names = site.view.names
    scope = names.scope_of(name)
    if name.id in names.declared_outer(scope) or len(names.bindings(name.id, name)) != 1:
        return False
    loads = [load for load in names.loads.get(name.id, ()) if names.lookup(load.id, load)[0] is scope]
    return bool(loads) and all(isinstance(load, ast.Name) and is_used_as_size(site, load, steps + 1) for load in loads)


def quotient(site: Site, call: ast.Call) -> tuple[str, list[Obligation]] | None:
    """What torch.div computes of a size and an integer, in Python, with what that relies on."""
    if site.view.names.qualified(call.func) not in ("torch.div", "torch.divide") or len(call.args) != 2:
        return None
    modes = {keyword.arg: keyword.value for keyword in call.keywords}
    match modes.get("rounding_mode"):
        case ast.Constant(value="floor" | "trunc") if len(modes) == 1:
            pass
        case _:
            return None
    size, divisor = call.args
    is_size = size_obligation(site, size)
    if is_size is None or not _is_integer(site, divisor):
        return None
    simple = isinstance(divisor, ast.Name | ast.Constant | ast.Attribute)
    below = site.text(divisor)
    text = f"{operand(site, size)} // {below if simple or below.startswith('(') else f'({below})'}"
    return text, [is_size, *_positive(site, divisor)]


def operand(site: Site, size: ast.expr) -> str:
    """The text of a size, without a tensor around it."""
    return site.text(size.args[0] if isinstance(size, ast.Call) and is_tensor_call(site, size) else size)


def size_obligation(site: Site, size: ast.expr) -> Obligation | None:
    """The obligation that `x.shape[0]`, `x.size(0)`, a tensor of it, or a name for it is a size."""
    if isinstance(size, ast.Call) and is_tensor_call(site, size):
        return size_obligation(site, size.args[0])
    match size:
        case ast.Subscript(value=shape, slice=index) if not isinstance(index, ast.Slice):
            return shape_obligation(site, shape)
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[_], keywords=[]):
            return _known_tensor(site, tensor)
        case ast.Call(func=ast.Attribute(value=tensor, attr="numel" | "dim"), args=[], keywords=[]):
            return _known_tensor(site, tensor)
        case ast.Name():
            found = [_of_binding(site, one, size) for one in site.view.names.bindings(size.id, size)]
            return found[0] if len(found) == 1 else None
    return None


def shape_obligation(site: Site, shape: ast.expr) -> Obligation | None:
    """The obligation that an expression is the shape of a tensor."""
    match shape:
        case ast.Attribute(value=tensor, attr="shape"):
            return _known_tensor(site, tensor)
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[], keywords=[]):
            return _known_tensor(site, tensor)
    return None


def is_tensor_call(site: Site, call: ast.Call) -> bool:
    """True for `torch.tensor(x)`."""
    return site.view.names.qualified(call.func) == "torch.tensor" and len(call.args) == 1 and not call.keywords


def _of_binding(site: Site, binding: Binding, name: ast.Name) -> Obligation | None:
    """The obligation that a name holds a size since its one assignment in this function, before it is used."""
    statement = binding.statement
    names = site.view.names
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.lineno > name.lineno:
        return None
    if names.scope_of(statement.targets[0]) is not names.scope_of(name):
        return None
    there = Site(site.view, site.compiled, statement, statement)
    match statement.targets[0]:
        case ast.Tuple(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
            return shape_obligation(there, statement.value)
        case ast.Name():
            return size_obligation(there, statement.value)
    return None


def _known_tensor(site: Site, tensor: ast.expr) -> Obligation | None:
    value = site.value(tensor)
    return is_a_tensor(value, site.text(tensor), site.line) if value.tensor_like else None


def takes_sizes(names: Names, call: ast.Call) -> bool:
    """True for calls that make integers of their positional arguments: `range`, `view`, `torch.zeros`."""
    if isinstance(call.func, ast.Name):
        return call.func.id == "range" and names.is_builtin(call.func, "range")
    qualified = names.qualified(call.func)
    if qualified is not None:
        return qualified in _FUNCTIONS
    return isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS


def _is_integer(site: Site, node: ast.expr) -> bool:
    """True for a number that Python computes in integers."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv):
        return _is_integer(site, node.left) and _is_integer(site, node.right)
    value = site.value(node)
    known = value.kind is Kind.NUMBER and value.number in ("int", "int at most") and value.scalar_of is None
    return known or size_obligation(site, node) is not None


def _positive(site: Site, divisor: ast.expr) -> list[Obligation]:
    """torch.div may round to the other side for a negative divisor, and raises another error for zero."""
    unknown = next((leaf for leaf in _leaves(divisor) if not _is_positive(site, leaf)), None)
    if unknown is None:
        return [proved(POSITIVE, f"{site.text(divisor)} is", site.line)]
    return [assumed(POSITIVE, f"nothing shows it of {site.text(unknown)}", site.line)]


def _leaves(node: ast.expr) -> list[ast.expr]:
    """What a sum or product is made of, which is positive when all of it is."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return [*_leaves(node.left), *_leaves(node.right)]
    return [node]


def _is_positive(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value > 0
    values = [value for observed in _observed(site, node) for value in _values(observed, site.text(node))]
    return bool(values) and all(value.isdecimal() and int(value) > 0 for value in values)


def _observed(site: Site, node: ast.expr) -> list[Observed]:
    """What runs showed at the statement; in all of the function for a parameter that keeps what was passed."""
    found = [site.view.observed(site.statement.lineno)] if site.statement is not None else []
    bindings = site.view.names.bindings(node.id, node) if isinstance(node, ast.Name) else ()
    if len(bindings) == 1 and isinstance(next(iter(bindings)).node, ast.arg):
        span = site.view.source.span(site.compiled.function.node)
        found = [site.view.observed(line) for line in range(span.line, span.end_line + 1)]
    own = site.compiled.function.name
    return [observed for observed in found if observed is not None and observed.function == own]


def _values(observed: Observed, name: str) -> list[str]:
    if name not in observed.names():
        return []
    return [one.values[name].value or "" for one in observed.observations if one.values[name].value is not None]
