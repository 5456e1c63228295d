"""A module or function that is given to torch.compile, whose result nobody uses.

`torch.compile` returns the compiled object and leaves the original as it is. A statement `torch.compile(model)`
compiles nothing, and `compiled = torch.compile(model)` does not either when the program goes on with `model`.

    # Before                                 # After
    torch.compile(model)                     model = torch.compile(model)
    for x in data:                           for x in data:
        model(x)                                 model(x)

`model.compile()` compiles a module in place.

Reports the place, and changes nothing: compiling what ran without it until now may change results within rounding,
and takes time at the first call.

Source: torch.compile, torch.nn.Module.compile.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF412", "unused-compilation")


def find(view: FileView) -> Iterator[Finding]:
    """The results of torch.compile that one file throws away."""
    for node in view.source.nodes:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        if view.names.qualified(call.func) != "torch.compile" or not call.args:
            continue
        given = " ".join(view.source.segment(call.args[0]).split())
        why = RefusedError(
            "the result is used",
            f"the compiled object is thrown away, and {given} runs as before",
            node.lineno,
            f"keep the result and call it: {given} = torch.compile({given}); a module compiles itself with "
            f"{given}.compile()",
        )
        function = view.source.enclosing_function(node)
        where = ("<module>" if function is None else function.qualname, "outside of compiled code")
        message = f"nobody uses the result of torch.compile({given})"
        yield Finding(*NAME, view.source.span(call), message, *where, (why.obligation,), advice=why.advice)


RULE = Rule(*NAME, "the result of torch.compile is thrown away", __doc__, find, rewrites=False)
