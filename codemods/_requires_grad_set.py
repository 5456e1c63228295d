"""`tensor.requires_grad = True` for a tensor that only one name holds: a form of it that a graph can hold.

A function of autograd whose other argument is a leaf gives a view that requires a gradient, which goes on to nobody.
It is taken only while torch.compile traces, and only where the assignment would not raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Kind
from gbfix.codemods._idioms import Site, assumed, proved
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Fix, Obligation, Replacement

PROBE = "a function of autograd that requires a gradient"
OWN_GRADIENT = "nobody asks the tensor for a gradient of its own"
_ONE_NAME = "only this name holds the tensor"
_DTYPES = "the assignment does what it did"
_PLACE = "the new function can stand behind the imports"
ADVICE = (
    "set it before the compiled function is called, make a leaf there and pass it in, or mark a helper that only does "
    "this with @torch.compiler.disable(reason=...)"
)
_NEW_TENSOR = ("view", "unsqueeze", "transpose", "permute", "detach", "clone", "narrow", "select", "expand", "unfold")
_OF_A_LEAF = (
    *("grad", "is_leaf", "grad_fn", "retain_grad", "retains_grad", "backward", "register_hook", "output_nr"),
    *("requires_grad", "requires_grad_", "data", "detach_", "register_post_accumulate_grad_hook"),
)
_NAMES = ("_RequiringGradient", "_ANY_LEAF", "_requiring_gradient")
_HELPER = '''
class _RequiringGradient(torch.autograd.Function):
    """Gives a view that requires a gradient, whatever the tensor did."""

    @staticmethod
    def forward(ctx, tensor, leaf):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


_ANY_LEAF = torch.zeros((), requires_grad=True)


def _requiring_gradient(tensor):
    """The tensor after `tensor.requires_grad = True`; for torch.compile, which cannot follow that, a view of it."""
    followed = tensor.is_floating_point() and not tensor.requires_grad
    if followed and torch.compiler.is_compiling():
        with torch.enable_grad():
            return _RequiringGradient.apply(tensor, _ANY_LEAF)
    tensor.requires_grad = True
    return tensor
'''.strip("\n")


@dataclass(frozen=True)
class _Setting:
    """The statement that sets it, and the name of the tensor."""

    site: Site
    statement: ast.stmt
    name: str

    @property
    def line(self) -> int:
        return self.statement.lineno


def kept_in_the_graph(site: Site, tensor: ast.expr) -> tuple[Fix, list[Obligation]]:
    """The fix, and what it relies on. Raises RefusedError."""
    setting = _setting(site, tensor)
    value = site.value(tensor)
    if value.kind is not Kind.TENSOR or value.assumed:
        raise RefusedError("it is set of a tensor", f"{setting.name} may be something else", site.line, ADVICE)
    made = _made(setting)
    uses = list(_uses_after(setting))
    for use in uses:
        _check_use(setting, use)
    obligations = [
        proved(_ONE_NAME, f"{shorten(site.text(made))} gives a new one", made.lineno),
        proved(_DTYPES, "without torch.compile nothing changes, nor where it raises", site.line),
        _own_gradient(setting, uses),
    ]
    helper = _helper(setting)
    span = site.view.source.span(setting.statement)
    edit = Replacement(span, f"{setting.name} = {_NAMES[2]}({setting.name})")
    return Fix("have a graph give a tensor that requires a gradient", (*helper, edit)), obligations


def _setting(site: Site, tensor: ast.expr) -> _Setting:
    statement = site.statement
    alone = statement is site.node or (isinstance(statement, ast.Expr) and statement.value is site.node)
    if statement is None or not alone or not isinstance(tensor, ast.Name):
        raise RefusedError(_ONE_NAME, f"{site.text(tensor).splitlines()[0]} is no name of its own", site.line, ADVICE)
    if not site.flow.context.is_local(tensor.id):
        raise RefusedError(_ONE_NAME, f"{tensor.id} is not set in the function", site.line, ADVICE)
    for around in site.view.source.ancestors(statement):
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        if not isinstance(around, ast.If):
            raise RefusedError(_ONE_NAME, f"it stands in a {type(around).__name__.lower()}", site.line, ADVICE)
    return _Setting(site, statement, tensor.id)


def _made(setting: _Setting) -> ast.expr:
    """What the tensor is made by, which must give a new one that nothing has got hold of since."""
    site, name = setting.site, setting.name
    names, function = site.view.names, site.compiled.function.node
    earlier = [
        b.statement for b in names.local_bindings(function).get(name, []) if _starts_before(b.statement, setting)
    ]
    last = max(earlier, key=lambda one: getattr(one, "lineno", 0), default=None)
    if not isinstance(last, ast.Assign) or len(last.targets) != 1 or not isinstance(last.targets[0], ast.Name):
        raise RefusedError(_ONE_NAME, f"{name} is not assigned right before", setting.line, ADVICE)
    parents = site.view.source.parents
    around = set(site.view.source.ancestors(setting.statement))
    if parents[last] not in around:
        raise RefusedError(_ONE_NAME, f"{name} is not always the one of line {last.lineno}", setting.line, ADVICE)
    if not _is_new(setting, last):
        reason = f"{shorten(site.text(last.value))} may be held by others"
        raise RefusedError(_ONE_NAME, reason, last.lineno, ADVICE)
    for use in _loads(setting):
        between = (last.end_lineno or 0, last.end_col_offset or 0) <= (use.lineno, use.col_offset)
        if between and _starts_before(use, setting) and not isinstance(parents[use], ast.Attribute):
            raise RefusedError(_ONE_NAME, f"{name} is used in between", use.lineno, ADVICE)
    return last.value


def _is_new(setting: _Setting, made: ast.Assign) -> bool:
    """True for an expression whose tensor is no object that existed before."""
    flow = setting.site.flow
    state = flow.before.get(made)
    if state is None:
        return False
    base: ast.expr | None = None
    match made.value:
        case ast.Subscript(value=base):
            pass
        case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr in _NEW_TENSOR:
            pass
        case _:
            return flow.evaluate(made.value, state)[0].fresh
    value = flow.evaluate(base, state)[0]
    return value.kind is Kind.TENSOR and all(one.claim.endswith(" is not None") for one in value.assumed)


def _starts_before(node: ast.AST, setting: _Setting) -> bool:
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    return place < (setting.statement.lineno, setting.statement.col_offset)


def _loads(setting: _Setting) -> Iterator[ast.Name]:
    names, function = setting.site.view.names, setting.site.compiled.function.node
    for use in names.loads.get(setting.name, ()):
        if names.lookup(setting.name, use)[0] is function:
            yield use


def _uses_after(setting: _Setting) -> Iterator[ast.Name]:
    inside = set(ast.walk(setting.statement))
    return (use for use in _loads(setting) if use not in inside and not _starts_before(use, setting))


def _check_use(setting: _Setting, use: ast.Name) -> None:
    """Raises RefusedError where a view in place of the tensor itself would be seen, or is written into."""
    source = setting.site.view.source
    if source.enclosing_function(use) is not setting.site.compiled.function:
        raise RefusedError(_ONE_NAME, f"an inner function holds {setting.name}", use.lineno, ADVICE)
    match source.parents[use]:
        case ast.Attribute(attr=attr) if attr in _OF_A_LEAF:
            raise RefusedError(OWN_GRADIENT, f"{setting.name}.{attr} does", use.lineno, ADVICE)
        case ast.Attribute(attr=attr) if attr.endswith("_"):
            raise RefusedError("nothing is written into the tensor", f"{attr} does", use.lineno, ADVICE)
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            raise RefusedError("nothing is written into the tensor", "it is here", use.lineno, ADVICE)


def _own_gradient(setting: _Setting, uses: Sequence[ast.Name]) -> Obligation:
    site = setting.site
    for use in uses:
        around = site.view.source.parents[use]
        if isinstance(around, ast.keyword | ast.Starred):
            around = site.view.source.parents[around]
        if isinstance(around, ast.Call) and use is not around.func:
            if (site.view.names.qualified(around.func) or "").startswith("torch."):
                continue
            return assumed(OWN_GRADIENT, f"{shorten(site.text(around))} gets it", use.lineno)
        if not isinstance(around, ast.Attribute | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript):
            return assumed(OWN_GRADIENT, f"{setting.name} is handed on", use.lineno)
    return proved(OWN_GRADIENT, "only operations of torch get it", setting.line)


def is_own_function(site: Site) -> bool:
    """True within the function that a fix added: its assignment is what compiled code does not come to."""
    node = site.compiled.function.node
    if not isinstance(node, ast.FunctionDef) or node.name != _NAMES[2]:
        return False
    torch, _ = torch_name(site.view, node)
    return _dumped([node]) <= _dumped(ast.parse(_helper_text(torch)).body)


def _helper_text(torch: str) -> str:
    return _HELPER.replace("torch.", f"{torch}.").replace(f"for {torch}.compile", "for torch.compile")


def _dumped(body: Sequence[ast.stmt]) -> set[str]:
    return {ast.dump(node) for node in body}


def _helper(setting: _Setting) -> tuple[Replacement, ...]:
    """The edit that defines the new function, none where an earlier fix did. Raises RefusedError."""
    source, names = setting.site.view.source, setting.site.view.names
    torch, missing = torch_name(setting.site.view, setting.statement)
    if missing:
        raise RefusedError(_PLACE, "torch is not imported", setting.line, ADVICE)
    text = _helper_text(torch)
    if _dumped(ast.parse(text).body) <= _dumped(source.tree.body):
        return ()
    if set(_NAMES) & (all_names(source.tree) | set(names.local_bindings(source.tree))):
        raise RefusedError(_PLACE, f"the module has a {_NAMES[2]} already", setting.line, ADVICE)
    imports = [node for node in source.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    last = imports[-1] if imports else None
    bound = [b.statement for b in names.local_bindings(source.tree).get(torch, [])]
    if last is None or not all(statement in imports for statement in bound):
        raise RefusedError(_PLACE, "torch is imported in another way", setting.line, ADVICE)
    if last.lineno > setting.line:
        raise RefusedError(_PLACE, "something is imported below", last.lineno, ADVICE)
    return (Replacement(source.span(last), f"{source.segment(last)}\n\n\n{text}"),)
