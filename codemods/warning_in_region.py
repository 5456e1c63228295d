"""A warning in the middle of a compiled function: given where the function begins or ends.

`warnings.warn` ends the graph (GB0007), also when the filters suppress the warning. As the first or the last thing of
the compiled function it splits nothing.

Before:

    @torch.compile
    def cast(x):
        y = x.sin()
        if y.dtype != torch.float16:
            warnings.warn("y is cast")
        return y.half()

After:

    @torch.compile
    def cast(x):
        y = x.sin()
        result = y.half()
        if y.dtype != torch.float16:
            warnings.warn("y is cast")
        return result

It moves as log messages do (logging-in-region), within its function, so that `stacklevel` points where it pointed and
the warning stays one place of the file, which the default filter shows once.

A warning with a fixed text and without `stacklevel` that cannot go there is given by the graph itself, in its place,
through a function of the module (logging-in-region shows how): still one place of the same file and module.

Stays away where the function ends in several places behind it, which would make it several places, and for every
reason of logging-in-region. Inside `warnings.catch_warnings()` it stays, too.

Relies on, besides what logging-in-region does: nobody turns the warning into an error, unless nothing between the
two places leaves a trace; of one that the graph gives, a run that went on behind it shows that. Neither the
compiled code nor PyTorch, while it compiles, sets other filters, after which Python shows a warning again.

Source: torch.compile troubleshooting (GB0007); the warnings module.
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._reports import WARNING_RULE, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *WARNING_RULE,
    "a warning between tensor operations",
    __doc__,
    partial(findings_of, rule=WARNING_RULE),
)
