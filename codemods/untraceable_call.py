"""A call that Dynamo has no way to put into a graph, with what can be done instead.

NumPy functions that PyTorch does not imitate: `np.interp`, `np.digitize`, `np.polyfit` (GB0294). Breaks that are there
on purpose, `torch._dynamo.graph_break()` and functions under `torch.compiler.disable`, may avoid a deadlock or a bug of
a backend: they are not reported, and gbfix never removes them.

    # Before                                 # After
    @torch.compile                           @torch.library.custom_op("my::interp", mutates_args=())
    def f(x):                                def interp(x: torch.Tensor) -> torch.Tensor: ...
        y = np.interp((x + 1).numpy(), ...)
        return torch.from_numpy(y) * 2       @interp.register_fake ...

Reports the place, and changes nothing.

Source: PyTorch's GB0294.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.engine.model import Finding, Rule

NAME = ("GBF329", "untraceable-call")
_NUMPY_NAMES = "interp unwrap polyfit polyval isin setdiff1d intersect1d union1d digitize select piecewise lexsort"
_NUMPY = frozenset(map("numpy.{}".format, _NUMPY_NAMES.split()))
_CLAIM = "PyTorch imitates the function"
_ADVICE = "write it with torch functions, or register it as an operator: torch.library.custom_op with register_fake"


def find(view: FileView) -> Iterator[Finding]:
    """The calls of one file that no graph can hold."""
    for compiled in view.compiled:
        for node in own_nodes(compiled.function.node):
            if isinstance(node, ast.Call) and view.names.qualified(node.func) in _NUMPY:
                text = " ".join(view.source.segment(node.func).split())
                why = RefusedError(_CLAIM, f"{text} is NumPy's own", node.lineno, _ADVICE)
                yield report(view, compiled, NAME, node, f"{text} within a compiled function", why)


RULE = Rule(*NAME, "a call that no graph can hold", __doc__, find, rewrites=False)
