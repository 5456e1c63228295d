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

Stays away from messages in loops, `try` and unknown `with` blocks, under a condition that does more than report, with
`stack_info`, in generators and coroutines, in functions that others call from within the region (their callers break,
wherever the message stands), and with fullgraph=True, which allows no message at all.

With `--messages drop`, and never without, the message goes under `if not torch.compiler.is_compiling():` instead: this
changes what is seen, and is unsafe.

Relies on: nothing raises between the two places (it would come before the message), nothing says anything there, the
message says the same. A copy of a tensor that requires a gradient shows another grad_fn.

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
