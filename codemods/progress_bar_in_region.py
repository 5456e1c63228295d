"""A progress bar around a loop of a compiled function.

`tqdm(...)`, `trange(...)` and `rich.progress.track(...)` write to the terminal while the loop runs; Dynamo does not
follow them (GB0059, GB0156), and a break in a loop leaves the whole function without a graph.

    # Before                                 # After
    @torch.compile                           @torch.compile
    def train(x, batches):                   def step(x, batch):
        for batch in tqdm(batches):              return x + batch.sum()
            x = x + batch.sum()
        return x                             for batch in tqdm(batches):
                                                 x = step(x, batch)

Reports the place, and changes nothing: where the bar belongs is around the calls of the compiled function, and what
that function is then is for the program to say.

Source: PyTorch's GB0059, GB0156, GB7000.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.engine.model import Finding, Rule

NAME = ("GBF324", "progress-bar-in-region")
_BARS = frozenset(
    f"{module}.{name}"
    for module in ("tqdm", "tqdm.auto", "tqdm.std", "tqdm.notebook", "tqdm.rich", "tqdm.autonotebook", "tqdm.asyncio")
    for name in ("tqdm", "trange", "tqdm_notebook")
) | {"rich.progress.track", "alive_progress.alive_bar", "progressbar.progressbar"}


def find(view: FileView) -> Iterator[Finding]:
    """The progress bars of one file."""
    for compiled in view.compiled:
        for node in own_nodes(compiled.function.node):
            if isinstance(node, ast.Call) and view.names.qualified(node.func) in _BARS:
                why = RefusedError(
                    "the bar moves at the same moments",
                    f"{view.names.qualified(node.func)} writes to the terminal while the loop runs",
                    node.lineno,
                    "compile the body of the loop as a function of its own and put the bar around the calls of it, in "
                    "the caller; a loop over a list of fixed length inside one graph has no use for a bar",
                )
                yield report(view, compiled, NAME, node, "progress bar within a compiled function", why)


RULE = Rule(*NAME, "a progress bar around a loop within a compiled function", __doc__, find, rewrites=False)
