"""A buffer of a module that is moved to a device or dtype in a compiled function.

Dynamo does not follow setting an `nn.Buffer` to a tensor of the graph (GB4841), also when nothing has to be moved,
which is so in every call but the first: `to` then gives the very same tensor.

Before:

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Buffer(torch.arange(4.0))

        @torch.compile
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.table = self.table.to(device=x.device, dtype=x.dtype)
            return x + self.table

After:

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Buffer(torch.arange(4.0))

        @torch.compile
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.table.device != x.device or self.table.dtype != x.dtype:
                self.table = self.table.to(device=x.device, dtype=x.dtype)
            return x + self.table

What is asked are facts that Dynamo knows, so that the branch costs nothing, and the assignment is made whenever it
would put another tensor there. A call that moves the tensor still breaks the graph.

Stays away when `to` is given anything else than `device` and `dtype` by name, or something that computes, and when the
class may do more than set it (`__setattr__`, a property of this name).

Source: torch.nn.Module.__setattr__ and torch.Tensor.to of torch 2.13 (GB4841).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind
from gbfix.codemods._idioms import Site, is_a_tensor, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, reindented
from gbfix.engine.model import Finding, Fix, Replacement, Rule

MOVED_BUFFER = ("GBF617", "moved-buffer")
_SAME = "setting it to the tensor that it holds changes nothing"
_PROBE = "buffer set to a tensor"
_BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Assign):
        match site.node:
            case ast.Assign(
                targets=[ast.Attribute() as target], value=ast.Call(func=ast.Attribute(value=held, attr="to"))
            ):
                if ast.unparse(target) != ast.unparse(held) or _is_asked(site, target) or not _is_buffer(site, target):
                    continue
                if not view.project.torch.captures(_PROBE):
                    yield _finding(site, site.node, target)


def _finding(site: Site, node: ast.Assign, target: ast.Attribute) -> Finding:
    message = f"{site.text(target)} moved in compiled code"
    try:
        asked = _questions(site, node, target)
        _check_plain(site, target)
    except RefusedError as refused:
        return site.refusal(MOVED_BUFFER, message, refused)
    indentation = indentation_of(site.view.source, node)
    text = reindented(reindented(site.text(node), indentation, ""), "", "    ")
    fix = Fix("move it when it is elsewhere", (Replacement(site.view.source.span(node), f"if {asked}:\n{text}"),))
    held = is_a_tensor(site.value(target), site.text(target), site.line)
    same = proved(_SAME, "no class of the file does more than set it", site.line)
    return site.finding(MOVED_BUFFER, message, (fix, [held, same]))


def _questions(site: Site, node: ast.Assign, target: ast.Attribute) -> str:
    """The test that is true whenever `to` may give another tensor. Raises RefusedError."""
    call = node.value
    assert isinstance(call, ast.Call)
    wanted = {keyword.arg: keyword.value for keyword in call.keywords}
    if not call.args and not wanted.keys() - {"device", "dtype"} and wanted:
        pairs = [(name, value) for name, value in wanted.items() if name]
    else:
        reason = f"{site.text(call)} is given more, or not by name"
        advice = "give it device= and dtype= by name"
        raise RefusedError("it is known what the tensor is moved to", reason, site.line, advice)
    for _, value in pairs:
        if not all(isinstance(part, ast.Name | ast.Attribute | ast.expr_context) for part in ast.walk(value)):
            reason = f"{site.text(value)} computes, perhaps something else when it is asked twice"
            raise RefusedError("it is known what the tensor is moved to", reason, site.line, "give it a name before")
    return " or ".join(f"{site.text(target)}.{name} != {site.text(value)}" for name, value in pairs)


def _check_plain(site: Site, target: ast.Attribute) -> None:
    """Raise RefusedError where setting the attribute may run code of the class."""
    advice = f"compare the device and dtype of {site.text(target)} first"
    owner = site.compiled.function.owner
    if owner is None or not isinstance(target.value, ast.Name) or not site.flow.context.is_self(target.value):
        raise RefusedError(_SAME, f"what {site.text(target.value)} is, is not known", site.line, advice)
    for function in site.view.source.functions:
        if function.owner is owner and function.name in ("__setattr__", target.attr):
            reason = f"{owner.name} defines {function.name}"
            raise RefusedError(_SAME, reason, function.node.lineno, advice)
    if site.value(target).kind in (Kind.NUMBER, Kind.MODULE, Kind.OTHER):
        raise RefusedError("the value is a tensor", f"{site.text(target)} is none", site.line, advice)


def _is_buffer(site: Site, target: ast.Attribute) -> bool:
    """True for what the class makes a buffer: another attribute is set without a break."""
    owner = site.compiled.function.owner
    for part in ast.walk(owner) if owner is not None else ():
        match part:
            case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=name), *_]):
                if name == target.attr:
                    return True
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Call(func=func)):
                if name == target.attr and (site.view.names.qualified(func) or "") in _BUFFERS:
                    return True
    return False


def _is_asked(site: Site, target: ast.Attribute) -> bool:
    """True where an `if` around already compares the device or dtype of the attribute."""
    asked = {f"{ast.unparse(target)}.{name}" for name in ("device", "dtype")}
    for parent in site.view.source.ancestors(site.node):
        if parent is site.compiled.function.node:
            break
        if isinstance(parent, ast.If) and any(
            isinstance(part, ast.Attribute) and ast.unparse(part) in asked for part in ast.walk(parent.test)
        ):
            return True
    return False


RULE = Rule(*MOVED_BUFFER, "a buffer moved to a device or dtype in a compiled function", __doc__, _find)
