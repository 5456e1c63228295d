"""`requires_grad` set in a compiled function.

Dynamo does not follow the assignment (GB0206), and `requires_grad_()` only where the tensor stays inside (GB8985). A
tensor that `torch.zeros` and the like just made requires no gradient unless told so: setting it to False is not needed.

Before:

    mask = torch.zeros(3)
    mask.requires_grad = False
    y = x + mask

After:

    mask = torch.zeros(3)
    y = x + mask

Set to True of a tensor that only one name holds, it becomes the call of a function that does the same without
torch.compile; traced, it gives a view of the tensor that requires a gradient, through a function of autograd that
Dynamo follows:

    # Before                                 # After
    h = x[:, None]                           h = x[:, None]
    if self.training:                        if self.training:
        h.requires_grad = True                   h = _requiring_gradient(h)

The view is no leaf. That nobody asks it for a gradient of its own (`.grad`, which would stay None in compiled code) is
assumed where it goes to a call that is not known; a check with gradients settles it.

Everything else that sets it stays. Make a tensor that requires a gradient before the compiled function, and freeze and
unfreeze parameters there; a helper that only does such bookkeeping may be marked with
`@torch.compiler.disable(reason=...)`, which keeps the break and says so.

Stays away when the tensor is not certainly a new one, made without `requires_grad=`; set to True, when others hold it,
in loops, and where it is written into or asked for `.grad`, `.is_leaf` and the like afterwards.

Source: torch.Tensor.requires_grad (GB0206, GB8985, GB0125).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind
from gbfix.codemods._idioms import Site, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._requires_grad_set import ADVICE, PROBE, is_own_function, kept_in_the_graph
from gbfix.engine.model import Finding, Fix, Obligation, Replacement, Rule

REQUIRES_GRAD = ("GBF605", "requires-grad-inside")
_CLAIM = "the tensor requires no gradient already"


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Assign, ast.Call):
        target = _target(site.node)
        if target is None or is_own_function(site):
            continue
        tensor, to_false, probe = target
        if probe == "requires_grad_ set to False" and site.value(tensor).kind is not Kind.TENSOR:
            probe = "requires_grad_ of parameters"
        if not view.project.torch.captures(probe) and site.value(tensor).kind is not Kind.NUMBER:
            yield _finding(site, tensor, to_false)


def _target(node: ast.AST) -> tuple[ast.expr, bool, str] | None:
    """The tensor that a statement sets it of, whether to False, and the probe of what PyTorch makes of that."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=tensor, attr="requires_grad")], value=value):
            return tensor, isinstance(value, ast.Constant) and value.value is False, "requires_grad set to False"
        case ast.Call(func=ast.Attribute(value=tensor, attr="requires_grad_"), args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            if len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False:
                return tensor, True, "requires_grad_ set to False"
            return tensor, False, "requires_grad set to True"
    return None


def _finding(site: Site, tensor: ast.expr, to_false: bool) -> Finding:
    message = f"requires_grad of {site.text(tensor).splitlines()[0]} set"
    try:
        if to_false:
            return site.finding(REQUIRES_GRAD, message, _left_out(site, tensor))
        if _to_true(site.node) and site.view.project.torch.captures(PROBE):
            return site.finding(REQUIRES_GRAD, message, kept_in_the_graph(site, tensor))
        text = site.text(tensor).splitlines()[0]
        raise RefusedError(_CLAIM, f"{text} may require one afterwards", site.line, ADVICE)
    except RefusedError as refused:
        return site.refusal(REQUIRES_GRAD, message, refused)


def _left_out(site: Site, tensor: ast.expr) -> tuple[Fix, list[Obligation]]:
    """The fix that does not set it to False. Raises RefusedError."""
    text = site.text(tensor).splitlines()[0]
    value = site.value(tensor)
    # A tensor made by an operation, or passed in, may require one: then this raises, or changes what is learned.
    if value.kind is not Kind.TENSOR or value.assumed or value.sources or not value.fresh:
        raise RefusedError(_CLAIM, f"{text} is not known to be a new tensor without one", site.line, ADVICE)
    same = proved(_CLAIM, f"{text} was just made without one", site.line)
    span = site.view.source.span(site.node)
    new = "" if isinstance(site.node, ast.Assign) else text
    return Fix("leave it out", (Replacement(span, new),)), [same]


def _to_true(node: ast.AST) -> bool:
    match node:
        case ast.Assign(value=ast.Constant(value=True)):
            return True
        case ast.Call(args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            return all(isinstance(one, ast.Constant) and one.value is True for one in given)
    return False


RULE = Rule(*REQUIRES_GRAD, "requires_grad set in a compiled function", __doc__, _find)
