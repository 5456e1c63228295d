"""A check that raises for the value of a tensor: return the flag, and raise at the edge of the compiled function.

Python must know the value to raise, so Dynamo ends the graph at the check (GB0170, "Data-dependent branching") and
starts another one behind it. The exception, its text and the moment it comes at are part of what the program does,
which an assert in the graph would change. So the check goes behind everything that is traced: the graph computes
the flag where the check stood, and Python raises when the graph has run.

Before:

    @torch.compile
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if torch.isnan(x).any():
            raise ValueError(f"NaN among {x.shape}")
        return x + y

After:

    @torch.compile
    def _f_graph(x: torch.Tensor, y: torch.Tensor):
        failed = torch.isnan(x).any()
        return x + y, failed


    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result, failed = _f_graph(x, y)
        if failed:
            raise ValueError(f"NaN among {x.shape}")
        return result

That is for a function whose only decorator is torch.compile: no break is left, and fullgraph=True works. In others
(a method, the forward of a module, a function given to torch.compile) the result is computed first, then come the
checks, then `return`: a break as the last thing of a function costs no graph.

Handles any test, also `.item()`, `int()`, torch.equal, torch.allclose, `and`, `or`, `not` and chained comparisons;
any exception, `raise ... from`, `torch._assert(False, ...)`, and messages that show tensors and shapes, which are made
only when it raises; several checks, which keep their order; calls of a function of the same file that only checks. A
check that is already the last thing of its function, and cannot go further, is left alone without a word.

Stays away, with the reason, when something that lasts happens after the check (an argument or attribute is
written, random numbers are drawn, something is printed), when something else may raise after it, and above all when
the check protects what follows (an index, a divisor); inside loops, `with`, `try` and branches.
An `else` or `elif` is put behind the check first.

Where it has to stay, or would only move to the edge of a function that other compiled code calls, an operator of its
own raises from within the graph:

    @torch.library.custom_op(
        __name__.replace(".", "_") + "::check_in_f",
        mutates_args=(),
        tags=(torch.Tag.cudagraph_unsafe,),
    )
    def _check_in_f(x: torch.Tensor) -> None:
        if torch.isnan(x).any():
            raise ValueError(f"NaN among {x.shape}")

    _check_in_f.register_fake(lambda x: None)
    _check_in_f.register_effect(torch.library.EffectType.ORDERED)

    if torch.compiler.is_compiling():
        _check_in_f(x)
    elif torch.isnan(x).any():
        raise ValueError(f"NaN among {x.shape}")

No break is left, kind and text of the exception stay, and nothing changes without torch.compile. This is always unsafe,
since the rest of the compiled code ends otherwise: a `try` around it has been traced and catches nothing, a buffer may
not have been written yet, the gradient mode may stay as it was inside a `with`, and a backend may reorder operations.
Only tensors, numbers and texts can be given to an operator; gbfix trace shows what names hold.

`torch._check_tensor_all(c)`, which reads a number out of a tensor (GB0124), becomes `torch._assert_async(c.all(), ...)`
with the same text: both raise RuntimeError, on the CPU at the same place. The rest is as unsafe as with an operator.

With `--in-graph-asserts` (or `in-graph-asserts = true` in the configuration) a check with a constant text becomes
`torch._assert_async(...)`, which stays in the graph. It raises RuntimeError, and on an accelerator later than the check
stood, so that it is always unsafe.

What a moved check relies on and cannot always prove, and then says: that the statements after it only compute, and
cannot fail or warn.

Source: torch.compile troubleshooting (GB0170, GB0033, GB0124).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._guards import GUARD, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*GUARD, "an `if` on the value of a tensor that raises", __doc__, partial(findings_of, rule=GUARD))
