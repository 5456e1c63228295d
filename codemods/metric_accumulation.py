"""A number read out of a tensor and added to an attribute: add up in a tensor, and read the number outside.

`self.total += loss.item()` in a compiled step makes Python wait for the value, so Dynamo ends the graph there
(GB0124). A sum kept in a tensor of double precision has the same bits, and the graph goes on.

Before:

    class Step:
        def __init__(self):
            self.total = 0.0

        @torch.compile
        def run(self, x: torch.Tensor):
            loss = (x * x).mean()
            self.total += loss.item()
            return self.weigh(loss)

        def mean(self, n):
            return self.total / n

After:

    class Step:
        def __init__(self):
            self.total = 0.0

        @torch.compile
        def run(self, x: torch.Tensor):
            loss = (x * x).mean()
            self.total = self.total + loss.detach().double()
            return self.weigh(loss)

        def mean(self, n):
            return float(self.total) / n

Changes an attribute that its class sets to `0.0` (or `0`, for integers) and that one statement adds to, where every
other use in the project reads it outside of compiled code. The first call and the second one are compiled, since the
attribute is a number first and a tensor then.

Stays away, with the reason, from sums and lists in containers, from attributes that compiled code reads or that have
another writer, from readers in f-strings or of objects whose class is not known, and where the file asks for CUDA
graphs, which write over the results of the call before, and where the project uses `__dict__`, `vars`, `pickle` or
`deepcopy`: return the tensor, detached, and add it up in the caller.

What it relies on and cannot prove: that nothing outside of the project reads, copies or saves the attribute, and that
the calls use one device.

Source: torch.compile troubleshooting (GB0124).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._metrics import METRIC
from gbfix.codemods._scalar_sites import findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *METRIC,
    "a number read out of a tensor and added to an attribute",
    __doc__,
    partial(findings_of, rule=METRIC),
)
