"""`torch._check_tensor_all(c)`, which reads a number out of a tensor: as an assert of the graph that raises the same.

Both raise RuntimeError with the same text where an element is false, on the CPU at the same place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Category
from gbfix.codemods import _obligations as duty
from gbfix.codemods._graph_checks import check_around, undone
from gbfix.codemods._host_sites import uncompiled_parts
from gbfix.codemods._idioms import Site, assumed, is_a_tensor, proved, sites
from gbfix.codemods._obligations import shorten
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_reads import captures_scalars
from gbfix.codemods._text import in_style_of
from gbfix.engine.model import Finding, Fix, Obligation, Replacement

CHECK = "torch._check_tensor_all"
BOOLEAN = "the condition is a tensor of truth values"
AT_ONCE = "the error comes where the check stands"
_TEXT = (
    '"Expected cond to be True, but got False. (Could this error message be improved? "\n'
    '    "If so, please report an enhancement request to PyTorch.)"'
)
"""What `torch._check_tensor_all` says without a message (torch 2.13, torch/__init__.py)."""
_ADVICE = 'give a message without values: lambda: "text"'


def whole_tensor_checks(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The calls in the compiled functions of a file, with their fixes."""
    if captures_scalars(view):
        return
    for site in sites(view, ast.Call):
        if site.called() != CHECK or site.state is None or site.compiled.fullgraph is True:
            continue
        if site.node in uncompiled_parts(view, site.compiled.function.node) or view.project.torch.captures(CHECK):
            continue
        message = "check that raises where an element of a tensor is false"
        try:
            yield site.finding(rule, message, _fixed(site))
        except RefusedError as refused:
            yield site.refusal(rule, message, refused)


def _fixed(site: Site) -> tuple[Fix, list[Obligation]]:
    call, line = site.node, site.line
    assert isinstance(call, ast.Call)
    if not isinstance(site.statement, ast.Expr) or site.statement.value is not call:
        raise RefusedError("the check is a statement", "it is used as a value", line, "make it one")
    if not site.view.project.torch.captures("torch._assert_async"):
        reason = "the installed PyTorch does not capture torch._assert_async"
        raise RefusedError("PyTorch captures the replacement", reason, line, "install PyTorch 2.13")
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    condition = call.args[0] if call.args else named.get("cond")
    message = call.args[1] if len(call.args) > 1 else named.get("message")
    if condition is None or isinstance(condition, ast.Starred) or None in named:
        raise RefusedError("the condition is given", "the arguments are unpacked", line, "give them by name")
    text = _said(site, message)
    module = site.text(call.func).removesuffix("._check_tensor_all")
    if module == site.text(call.func):
        reason = f"{module} is imported by a name of its own"
        raise RefusedError("torch is known by its name", reason, line, "call it as torch._check_tensor_all")
    simple = isinstance(condition, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    asked = site.text(condition) if simple else f"({site.text(condition)})"
    new = f"{module}._assert_async({asked}.all(), {text})"
    if "\n" in text:
        new = f"{module}._assert_async(\n    {asked}.all(),\n    {text},\n)"
    source = site.view.source
    check_around(source, site.compiled.function.node, site.statement)
    fix = Fix("assert it in the graph", (Replacement(source.span(site.statement), in_style_of(source, new)),))
    return fix, [*_obligations(site, condition), undone(site.view, [site.statement])]


def _said(site: Site, message: ast.expr | None) -> str:
    """The source of the text."""
    match message:
        case None | ast.Constant(value=None):
            return _TEXT
        case ast.Lambda(body=ast.Constant(value=str(said)) as body) if said and "\n" not in site.text(body):
            return site.text(body)
    reason = f"{shorten(site.text(message))} may say something else each time"
    raise RefusedError("the text is constant", reason, site.line, _ADVICE)


def _obligations(site: Site, condition: ast.expr) -> list[Obligation]:
    value, text, line = site.value(condition), shorten(site.text(condition)), site.line
    is_boolean = value.dtype is not None and value.dtype.category is Category.BOOL
    return [
        is_a_tensor(value, text, line),
        proved(BOOLEAN, f"{text} is one", line) if is_boolean else assumed(BOOLEAN, f"the dtype of {text}", line),
        proved(AT_ONCE, f"{text} is on the CPU", line)
        if value.devices == {"cpu"}
        else assumed(AT_ONCE, "on an accelerator the program is further by then", line),
        *duty.fullgraph_obligations(site.compiled.fullgraph, line),
    ]
