"""A text made of a tensor within a compiled function.

`str(t)`, `repr(t)` and `"%s" % t` read the values, which a graph does not have while it is made (GB0059, GB0569,
GB0208); f-strings and `format` are followed. The text is made in the caller instead:

    # Before                                 # After
    @torch.compile                           @torch.compile
    def f(x):                                def f(x):
        return x + 1, str(x.sum())               return x + 1, x.sum()

                                             y, total = f(x)
                                             text = str(total)

Reports the place, and changes nothing: the function then returns something else. Texts that are printed or logged are
the matter of the rules for messages.

Source: PyTorch's GB0059, GB0569, GB0208.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.flow import flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.values import Kind
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.engine.model import Finding, Rule

NAME = ("GBF327", "tensor-text-in-region")
_ADVICE = (
    "return the tensor and make the text of it in the caller, where its values are known; "
    "an f-string of the tensor, f'{t}', is followed by Dynamo as far as nobody reads it before the graph has run"
)


def find(view: FileView) -> Iterator[Finding]:
    """The texts of tensors in one file."""
    for compiled in view.compiled:
        flow = flow_of(view, compiled.function)
        for node in own_nodes(compiled.function.node):
            formatted = _formatted(view, node)
            if formatted is None or _is_message(view, node):
                continue
            statement = next((p for p in view.source.ancestors(node) if isinstance(p, ast.stmt)), None)
            state = flow.before.get(statement) if isinstance(statement, ast.stmt) else None
            if state is None or flow.evaluate(formatted, state)[0].kind is not Kind.TENSOR:
                continue
            text = shorten(view.source.segment(node))
            why = RefusedError(
                "the text is the same", f"{text} reads the values of a tensor", getattr(node, "lineno", 0), _ADVICE
            )
            yield report(view, compiled, NAME, node, f"{text} makes a text of a tensor", why)


def _formatted(view: FileView, node: ast.AST) -> ast.expr | None:
    """The expression whose text is made."""
    match node:
        case ast.Call(func=func, args=[argument], keywords=[]):
            return argument if any(view.names.is_builtin(func, name) for name in ("str", "repr")) else None
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str()), right=right):
            return right.elts[0] if isinstance(right, ast.Tuple) and right.elts else right
        case _:
            return None


def _is_message(view: FileView, node: ast.AST) -> bool:
    """True within a call that does not use its result, and within what is raised: the text is said, not kept."""
    for parent in view.source.ancestors(node):
        if isinstance(parent, ast.stmt):
            is_call = isinstance(parent, ast.Expr) and isinstance(parent.value, ast.Call)
            return is_call or isinstance(parent, ast.Raise | ast.Assert)
    return False


RULE = Rule(*NAME, "a text made of a tensor within a compiled function", __doc__, find, rewrites=False)
