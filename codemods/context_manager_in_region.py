"""A lock, `warnings.catch_warnings` or another manager of the host around operations of a compiled function.

Dynamo does not enter `with lock:`, `with warnings.catch_warnings():`, `contextlib.redirect_stdout(...)` or
`torch.random.fork_rng()` (GB0007, GB0142, GB0092), and then gives the whole function up. It belongs around the call.

Before:

    @torch.compile
    def f(x: torch.Tensor):
        with lock:
            y = x * 2.0
            return y + 1.0

After:

    @torch.compile
    def _f_graph(x: torch.Tensor):
        y = x * 2.0
        return y + 1.0


    def f(x: torch.Tensor):
        with lock:
            return _f_graph(x)

Done where the `with` is the whole body of a function that is decorated with exactly `torch.compile`, and what it
enters is a name of the module or a call of constants.

Elsewhere a `with torch.backends.cudnn.flags(...)` whose block is one value that torch computes (`return
F.ctc_loss(...)`) goes into a function of its own under `torch.compiler.disable`: one break stays at its call, and what
follows is compiled, which was not.

Stays away, and says so, where the block is more, and something stands before or behind the `with`, which would come
under it, where the manager depends on the arguments, in methods, and where the function is compiled elsewhere.

Source: PyTorch's GB0007, GB0142, GB0092.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.flow import flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._boundary import compiling_decorator
from gbfix.codemods._boundary_text import arguments, body_text, graph_name, header, signature
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.codemods._text import reindented
from gbfix.codemods._tree import all_names
from gbfix.codemods._with_outside import own_function
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Rule

NAME = ("GBF325", "context-manager-in-region")
_LOCKS = ("threading.Lock", "threading.RLock", "multiprocessing.Lock", "multiprocessing.RLock")
_MANAGERS = (
    "warnings.catch_warnings",
    "contextlib.redirect_stdout",
    "contextlib.redirect_stderr",
    "torch.random.fork_rng",
)
_SETTINGS = ("torch.backends.cudnn.flags",)
_ADVICE = "put the `with` around the call of the compiled function, in the caller"


def find(view: FileView) -> Iterator[Finding]:
    """The managers of the host that one file enters in compiled functions."""
    for compiled in view.compiled:
        for node in own_nodes(compiled.function.node):
            if isinstance(node, ast.With):
                for item in node.items:
                    if _is_host(view, item.context_expr):
                        yield _finding(view, compiled, node, item.context_expr)
                        break


def _is_host(view: FileView, node: ast.expr) -> bool:
    binding = view.names.single_definition(node)
    statement = None if binding is None else binding.statement
    if isinstance(statement, ast.Assign):
        made = statement.value
        return isinstance(made, ast.Call) and view.names.qualified(made.func) in _LOCKS
    return isinstance(node, ast.Call) and view.names.qualified(node.func) in (*_LOCKS, *_MANAGERS, *_SETTINGS)


def _finding(view: FileView, compiled: CompiledFunction, node: ast.With, entered: ast.expr) -> Finding:
    text = view.source.segment(entered)
    message = f"with {text} within a compiled function"
    span = view.source.span(entered)
    about = (*NAME, span, message, compiled.function.qualname, compiled.reason)
    try:
        fix = _fix(view, compiled, node)
    except RefusedError as refused:
        if not isinstance(entered, ast.Call) or view.names.qualified(entered.func) not in _SETTINGS:
            return report(view, compiled, NAME, node, message, refused)
        try:
            own, obligations = own_function(view, compiled, node)
        except RefusedError as other:
            return report(view, compiled, NAME, node, message, other)
        return Finding(*about, obligations, own)
    claim = "the same statements run under it"
    proof = Obligation(claim, Discharge.PROVED, "it is the whole body of the function", node.lineno)
    return Finding(*about, (proof,), fix)


def _fix(view: FileView, compiled: CompiledFunction, node: ast.With) -> Fix:
    flow = flow_of(view, compiled.function)
    function, source = compiled.function.node, view.source
    claim = "the same statements run under it"
    if not isinstance(function, ast.FunctionDef) or function.body[-1] is not node or len(function.body) > 2:
        raise RefusedError(claim, "the function does something outside of it", node.lineno, _ADVICE)
    docstring = function.body[:-1]
    if docstring and not (isinstance(docstring[0], ast.Expr) and isinstance(docstring[0].value, ast.Constant)):
        raise RefusedError(claim, "the function does something before it", docstring[0].lineno, _ADVICE)
    decorator = compiling_decorator(flow)
    if decorator is None or compiled.function.owner is not None:
        raise RefusedError(claim, "the function is compiled elsewhere", node.lineno, _ADVICE)
    if any(item.optional_vars is not None for item in node.items) or any(
        isinstance(part, ast.Name) and flow.context.is_local(part.id)
        for item in node.items
        for part in ast.walk(item.context_expr)
    ):
        raise RefusedError("it can be entered outside", "it depends on the function", node.lineno, _ADVICE)
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(function)):
        raise RefusedError(claim, "the function is a generator", node.lineno, _ADVICE)
    moved = []
    body = list(node.body)
    while len(body) > 1 and _changes_warnings(view, body[0]):
        moved.append(source.segment(body.pop(0)))
    if any(_changes_warnings(view, statement) for statement in body):
        raise RefusedError("it can be entered outside", "warnings change within it", node.lineno, _ADVICE)
    graph = graph_name(source, function, frozenset(all_names(source.tree)))
    entered = ", ".join(source.segment(item.context_expr) for item in node.items)
    if "\n" in entered:
        raise RefusedError("it can be entered outside", "it is written over several lines", node.lineno, _ADVICE)
    inner = [*moved, f"return {graph}({arguments(function)})"]
    lines = [
        f"@{source.segment(decorator)}",
        signature(source, function, graph),
        reindented(body_text(source, body, {}), "", "    "),
        "",
        "",
        header(source, function),
        *(f"    {source.segment(part)}" for part in docstring),
        f"    with {entered}:",
        *(reindented(line, "", "        ") for line in inner),
    ]
    return Fix("put it around the compiled function", (Replacement(source.span(function), "\n".join(lines)),))


def _changes_warnings(view: FileView, node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    name = view.names.qualified(call.func) if isinstance(call, ast.Call) else None
    return name in ("warnings.simplefilter", "warnings.filterwarnings", "warnings.resetwarnings")


RULE = Rule(*NAME, "a lock or another manager of the host within a compiled function", __doc__, find)
