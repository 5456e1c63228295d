"""A message of `torch._check` that is made of values.

Dynamo wants the message of `torch._check` and its relatives to be a `lambda` of a constant text (GB9158). A check of
sizes is Python: as an `if` that raises the same exception it is followed, whatever the text is made of.

Before:

    torch._check(x.shape[0] > 1, lambda: f"{x.shape[0]} rows are too few")

After:

    if not (x.shape[0] > 1):
        raise RuntimeError(f"{x.shape[0]} rows are too few")

The text is made when the check fails, as before. A program that is exported or has unbacked sizes learns from
`torch._check` what is true of a size; such a check stays as it is.

Stays away when the condition is more than a comparison of sizes and numbers, when the message is not a lambda, when
the call is used as a value, and where `RuntimeError` (or the relative's exception) is another name's.

Source: torch._check, torch/__init__.py of torch 2.13 (GB9158, GB9840).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._idioms import Site, is_a_tensor, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Fix, Obligation, Replacement, Rule

CHECK_MESSAGE = ("GBF608", "check-message")
_ERRORS = {
    "torch._check": "RuntimeError",
    "torch._check_index": "IndexError",
    "torch._check_value": "ValueError",
    "torch._check_type": "TypeError",
    "torch._check_not_implemented": "NotImplementedError",
}
_CLAIM = "the condition only compares sizes and numbers"
_ADVICE = 'give a message without values: lambda: "text"'


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        error = _ERRORS.get(site.called())
        call = site.node
        if error is None or not isinstance(call, ast.Call):
            continue
        message = _message(call)
        if message is None or _is_followed(site, message):
            continue
        yield _finding(site, call, message, error)


def _message(call: ast.Call) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "message"), None)
    return call.args[1] if len(call.args) > 1 else named


def _is_followed(site: Site, message: ast.expr) -> bool:
    """True for what PyTorch follows: a lambda whose text is constant or a name."""
    torch = site.view.project.torch
    if not isinstance(message, ast.Lambda):
        is_text = isinstance(message, ast.Constant | ast.JoinedStr)
        return not is_text or torch.captures("torch._check with a text")
    varies = any(isinstance(part, ast.FormattedValue | ast.Call | ast.BinOp) for part in ast.walk(message.body))
    return not varies or torch.captures("torch._check with a formatted message")


def _finding(site: Site, call: ast.Call, message: ast.expr, error: str) -> Finding:
    said = f"message of {site.text(call.func)}"
    try:
        fix, obligations = _fixed(site, call, message, error)
    except RefusedError as refused:
        return site.refusal(CHECK_MESSAGE, said, refused)
    return site.finding(CHECK_MESSAGE, said, (fix, obligations))


def _fixed(site: Site, call: ast.Call, message: ast.expr, error: str) -> tuple[Fix, list[Obligation]]:
    source, line = site.view.source, site.line
    if not isinstance(message, ast.Lambda):
        reason = "a text is none, and raises TypeError instead when the check fails"
        raise RefusedError("the message is a function", reason, line, _ADVICE)
    if ast.unparse(message.args):
        raise RefusedError("the message takes no arguments", f"{site.text(message)} does", line, _ADVICE)
    if not isinstance(site.statement, ast.Expr) or site.statement.value is not call:
        raise RefusedError("the check is a statement", f"{site.text(call.func)} is used as a value", line, _ADVICE)
    condition = call.args[0] if call.args else None
    if condition is None:
        raise RefusedError(_CLAIM, "it is not given first", line, _ADVICE)
    obligations = _of_sizes(site, condition)
    if site.view.names.bindings(error, call):
        raise RefusedError("the exception is Python's", f"the name {error} is something else here", line, _ADVICE)
    test, text = site.text(condition), _as_text(site, message.body)
    if "\n" in test + text:
        raise RefusedError("condition and message are written on one line each", "one is not", line, _ADVICE)
    new = f"if not ({test}):\n    raise {error}({text})"
    return Fix("raise in Python", (Replacement(source.span(site.statement), new),)), obligations


def _as_text(site: Site, body: ast.expr) -> str:
    """The source of the message, which torch._check turns into a text."""
    formats = body.func.value if isinstance(body, ast.Call) and isinstance(body.func, ast.Attribute) else body
    left = formats.left if isinstance(formats, ast.BinOp) else formats
    is_text = isinstance(left, ast.JoinedStr) or (isinstance(left, ast.Constant) and isinstance(left.value, str))
    if is_text and (left is body or isinstance(body, ast.BinOp) or body.func.attr == "format"):  # type: ignore[attr-defined]
        return site.text(body)
    if site.view.names.bindings("str", body):
        raise RefusedError("str is Python's", "the name str is something else here", site.line, _ADVICE)
    return f"str({site.text(body)})"


def _of_sizes(site: Site, condition: ast.expr) -> list[Obligation]:
    """The obligations for a condition to be a Python bool made of sizes. Raises RefusedError."""
    found: list[Obligation] = []
    if not _compares(condition):
        raise RefusedError(_CLAIM, f"{site.text(condition)} is no comparison", site.line, _ADVICE)
    for part in ast.walk(condition):
        match part:
            case ast.Name() if not _is_number(site.value(part)) and not _is_base_of_size(site, part):
                reason = f"{part.id} may be something else"
                raise RefusedError(_CLAIM, reason, site.line, _ADVICE)
            case ast.Call() if not _is_size_call(part):
                raise RefusedError(_CLAIM, f"{site.text(part)} is a call", site.line, _ADVICE)
            case ast.Name() if _is_base_of_size(site, part):
                found.append(is_a_tensor(site.value(part), part.id, site.line))
    return found[:1] if len({one.discharge for one in found}) < 2 else found


def _is_number(value: Value) -> bool:
    return value.kind is Kind.NUMBER and value.scalar_of is None


def _compares(condition: ast.expr) -> bool:
    """True for comparisons, and what `and`, `or` and `not` make of them, which is True or False."""
    match condition:
        case ast.Compare():
            return True
        case ast.BoolOp(values=values):
            return all(_compares(value) for value in values)
        case ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _is_size_call(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("size", "dim", "numel")


def _is_base_of_size(site: Site, name: ast.Name) -> bool:
    parent = site.view.source.parents[name]
    is_metadata = isinstance(parent, ast.Attribute) and parent.attr in ("shape", "ndim", "size", "dim", "numel")
    return is_metadata and site.value(name).tensor_like


RULE = Rule(*CHECK_MESSAGE, "a torch._check whose message is made of values", __doc__, _find)
