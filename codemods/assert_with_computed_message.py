"""An assert on a tensor whose message is computed: check at the edge of the compiled function.

An assert on a tensor with a constant text stays in the graph. Making a text out of values does not: Dynamo ends the
graph at the assert (GB0170, "Data-dependent branching"). torch.allclose, torch.equal, `.item()`, `not` and `and` in
the test end it, too, whatever the message is (GB0033, GB0124).

Before:

    @torch.compile
    def f(x: torch.Tensor) -> torch.Tensor:
        assert (x > 0).all(), f"not positive: {x.min()}"
        return x.sqrt()

After:

    @torch.compile
    def _f_graph(x: torch.Tensor):
        passed = (x > 0).all()
        return x.sqrt(), passed


    def f(x: torch.Tensor) -> torch.Tensor:
        result, passed = _f_graph(x)
        assert passed, f"not positive: {x.min()}"
        return result

The assert stays one: `python -O` still drops it, and it raises AssertionError with its text. A constant message would
keep the check in the graph, where it raises RuntimeError; that is for you to choose.

Stays away for the same reasons as guard-that-raises, moves like it, and relies on the same.

Source: torch.compile troubleshooting (GB0170, GB0033).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._guards import ASSERT, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*ASSERT, "an assert on a tensor with a message made of values", __doc__, partial(findings_of, rule=ASSERT))
