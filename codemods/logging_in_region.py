"""A log message in the middle of a compiled function: said where the function begins or ends.

A call of a logger ends the graph (GB0291, GB4841 for functions of the logging module), also one that nobody sees, and
so does the question `logger.isEnabledFor(...)`. As the first or the last thing of the compiled function it
splits nothing.

Before:

    @torch.compile
    def step(x):
        y = x.sin()
        logger.info("mean %.3f", y.mean().item())
        return y.cos()

After:

    @torch.compile
    def step(x):
        y = x.sin()
        result = y.cos()
        logger.info("mean %.3f", y.mean().item())
        return result

Every way out of the function gets the message, a `raise` as well, so that it still comes out before an exception. All
messages behind it (print, logging, warnings, functions that only report) go along, in their order. Where nothing that
stands before it can raise or says anything, the message goes up to the beginning instead. A test that only decides on
messages moves as a whole. What a message reads is kept where it stood when it is set or written in between: a number,
shape or new tensor under a name (`reported_y = y.shape`), a tensor as a copy.

Known are loggers under any name (module level, `self.logger`, from another file, adapters), functions of `logging`,
`log(level, ...)`, `warning_once` and other functions that say a thing once, with their levels and `exc_info`: the call
itself moves, so levels and filters decide as before. The line number in the record is another one.

A message whose text is fixed or shows Python integers, such as sizes, and that cannot go there, or that others call
from within the region (their callers break, wherever it stands), is said by the graph itself: it becomes a function of
the module, which graphs call as an operator with an effect (`torch.library.custom_op`, from PyTorch 2.11), in its
place, each time they run. Everywhere else it is called as any function: in eager code, and by torch.export, so that
exported programs do not need the operator.

    @_in_graph
    def _report_forward() -> None:
        logger.warning_once("a tuple is deprecated")

Stays away from other messages in loops, `try` and unknown `with` blocks, under a condition that does more than report,
with `stack_info`, in generators and coroutines, in functions that others call from within the region, and with
fullgraph=True, which allows no message at all that Python says.

With `--messages drop`, and never without, the message goes under `if not torch.compiler.is_compiling():` instead: this
changes what is seen, and is unsafe.

Relies on: nothing raises between the two places (it would come before the message), nothing says anything there, the
message says the same. A copy of a tensor that requires a gradient shows another grad_fn. In the graph: the record names
the new function as its caller, except where a function such as `warning_once` calls the logger; handlers do not raise;
no checkpoint within the graph would have said it a second time.

Source: torch.compile troubleshooting (GB0291, GB4841); the logging module.
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._reports import LOGGING_RULE, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *LOGGING_RULE,
    "a log message between tensor operations",
    __doc__,
    partial(findings_of, rule=LOGGING_RULE),
)
