"""A comparison of sizes that an operation of torch takes as a flag.

While sizes are dynamic, `x.shape[1] > 1` is a symbol to Dynamo, also as the last part of `and` and `or`, or by a name.
A branch takes it; an argument of an operation that has to be True or False does not ("must be bool, not SymBool",
GB0112), so that the graph ends there from the second size on. `bool(...)` of it does not help.

Before:

    is_causal = x.shape[1] > 1
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

After:

    is_causal = x.shape[1] > 1
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True if is_causal else False)

Each outcome is compiled for itself, as behind an `if`.

Stays away from constants, from flags that no size decides, and where torch is told to take something else than a bool
for certain. What is not known to be a bool may have been an error, which the new form is not: that is assumed then.

Source: torch.nn.functional.scaled_dot_product_attention of torch 2.13 (GB0112).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind
from gbfix.codemods._idioms import Site, assumed, proved, sites
from gbfix.codemods._obligations import shorten
from gbfix.engine.model import Finding, Fix, Obligation, Replacement, Rule

SIZE_AS_FLAG = ("GBF613", "size-as-flag")
_FLAGS = {
    "torch.nn.functional.scaled_dot_product_attention": ("is_causal", "enable_gqa"),
    "torch._C._nn.scaled_dot_product_attention": ("is_causal", "enable_gqa"),
}
_PROBE = "comparison of sizes as a flag"


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        flags = _FLAGS.get(site.called(), ())
        assert isinstance(site.node, ast.Call)
        for keyword in site.node.keywords if flags and site.state is not None else ():
            flag = keyword.value
            if keyword.arg not in flags or not _decided_by_sizes(site, flag) or view.project.torch.captures(_PROBE):
                continue
            text = site.text(flag) if "\n" not in site.text(flag) else ast.unparse(flag)
            asked = text if isinstance(flag, ast.Name | ast.Attribute | ast.Call | ast.Compare) else f"({text})"
            fix = Fix("ask for it", (Replacement(view.source.span(flag), f"True if {asked} else False"),))
            message = f"flag {keyword.arg} of {site.text(site.node.func)} that a size decides"
            yield site.finding(SIZE_AS_FLAG, message, (fix, [_is_bool(site, flag)]))


def _is_bool(site: Site, flag: ast.expr) -> Obligation:
    text, value = shorten(site.text(flag)), site.value(flag)
    claim = f"{text} is True or False"
    if value.kind is Kind.NUMBER and value.number == "bool":
        return proved(claim, "it is a bool", site.line)
    return assumed(claim, "nothing shows it; another value was an error", site.line)


def _decided_by_sizes(site: Site, flag: ast.expr, depth: int = 3) -> bool:
    """True when the comparison of something that is no constant decides, here or where a name got its value."""
    if isinstance(flag, ast.Compare):
        return not any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in flag.ops)
    if isinstance(flag, ast.BoolOp):
        # Dynamo asks all parts but the last, whose value it takes.
        last = flag.values[-1]
        may_be_symbol = isinstance(last, ast.Name) or _decided_by_sizes(site, last, depth)
        return may_be_symbol and any(_decided_by_sizes(site, part, depth) for part in flag.values)
    if not isinstance(flag, ast.Name) or not depth:
        return False
    bindings = site.view.names.lookup(flag.id, flag)[1]
    statements = [one.statement for one in bindings if isinstance(one.statement, ast.Assign)]
    return any(_decided_by_sizes(site, statement.value, depth - 1) for statement in statements)


RULE = Rule(*SIZE_AS_FLAG, "a comparison of sizes as a flag of an operation", __doc__, _find)
