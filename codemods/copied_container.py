"""A list, dict or set copied with `copy.copy`.

Dynamo does not follow `copy.copy` (GB0007), but it does follow the `copy` method that lists, dicts and sets have: a new
container with the same items.

Before:

    parts = [x, x + 1.0]
    others = copy.copy(parts)

After:

    parts = [x, x + 1.0]
    others = parts.copy()

An object of a subclass stays one under `copy.copy` and becomes a plain container by the method, so that the exact type
must be known: from the display or call that made it, or from a recorded run.

Stays away when that is not known, and for tensors, whose shallow copy shares their memory as `x.view_as(x)` does.

Source: Python's copy module (GB0007, GB0208).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind
from gbfix.codemods._idioms import Site, assumed, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Obligation, Rule

COPIED_CONTAINER = ("GBF602", "copied-container")
_DISPLAYS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
_TYPES = ("list", "dict", "set", "builtins.list", "builtins.dict", "builtins.set")
_CLAIM = "the copied object is a list, dict or set, and no subclass"
_ANNOTATIONS = {"list", "List", "typing.List", "dict", "Dict", "typing.Dict", "set", "Set", "typing.Set"}
_ADVICE = "write the copy that is meant: xs.copy() for a list, dict or set, x.view_as(x) for a tensor"


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        if site.called() != "copy.copy" or view.project.torch.captures("copy.copy of a container"):
            continue
        if not _is_something_else(site):
            yield _finding(site)


def _is_something_else(site: Site) -> bool:
    """True for what PyTorch copies by itself: numbers, texts, tuples and the like."""
    call = site.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or isinstance(call.args[0], _DISPLAYS):
        return False
    value = site.value(call.args[0])
    is_known = value.kind is Kind.OTHER and value.class_name is not None and value.class_name not in _TYPES
    return value.kind is Kind.NUMBER or is_known


def _finding(site: Site) -> Finding:
    call = site.node
    assert isinstance(call, ast.Call)
    message = f"shallow copy: {site.text(call).splitlines()[0]}"
    try:
        copied, obligation = _copied(site, call)
    except RefusedError as refused:
        return site.refusal(COPIED_CONTAINER, message, refused)
    new = f"{site.text(copied)}.copy()"
    return site.finding(COPIED_CONTAINER, message, (site.replaced("copy with its own method", new), [obligation]))


def _copied(site: Site, call: ast.Call) -> tuple[ast.expr, Obligation]:
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        raise RefusedError(_CLAIM, f"{site.text(call)} is called in another way", site.line, _ADVICE)
    (copied,) = call.args
    if not site.view.project.torch.captures("copying methods of containers"):
        reason = "the installed PyTorch does not follow its copy method either"
        raise RefusedError("PyTorch captures the replacement", reason, site.line, "make the copy in the caller")
    if isinstance(copied, _DISPLAYS):
        return copied, proved(_CLAIM, "it is a display", site.line)
    value = site.value(copied)
    if value.kind is Kind.TENSOR:
        raise RefusedError(_CLAIM, f"{site.text(copied)} is a tensor", site.line, _ADVICE)
    if isinstance(copied, ast.Name):
        if value.class_name in _TYPES:
            return copied, proved(_CLAIM, f"{copied.id} is a {value.class_name.removeprefix('builtins.')}", site.line)
        return copied, _by_its_bindings(site, copied)
    raise RefusedError(_CLAIM, f"nothing shows what {site.text(copied)} is", site.line, _ADVICE)


def _by_its_bindings(site: Site, name: ast.Name) -> Obligation:
    bindings = site.view.names.bindings(name.id, name)
    made = [_made_by(site, binding.statement, binding.node) for binding in bindings]
    if made and all(made):
        return proved(_CLAIM, f"{name.id} is only bound to displays and calls that make one", site.line)
    (node,) = [binding.node for binding in bindings] if len(bindings) == 1 else [None]
    if isinstance(node, ast.arg) and node.annotation is not None:
        annotation = node.annotation.value if isinstance(node.annotation, ast.Subscript) else node.annotation
        if ast.unparse(annotation) in _ANNOTATIONS:
            return assumed(_CLAIM, f"{name.id} is annotated as {ast.unparse(node.annotation)}", node.lineno)
    raise RefusedError(_CLAIM, f"nothing shows what {name.id} is", site.line, _ADVICE)


def _made_by(site: Site, statement: ast.AST, node: ast.AST) -> bool:
    """True for an assignment of a display, or of `list(...)` and the like, to the whole name."""
    match statement:
        case ast.Assign(targets=targets, value=value) if node in targets:
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value) if node is target:
            pass
        case _:
            return False
    if isinstance(value, ast.Call):
        return any(site.view.names.is_builtin(value.func, name) for name in ("list", "dict", "set"))
    return isinstance(value, _DISPLAYS)


RULE = Rule(*COPIED_CONTAINER, "a list, dict or set copied with copy.copy", __doc__, _find)
