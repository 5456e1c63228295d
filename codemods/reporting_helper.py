"""A call of a function that only reports, in the middle of a compiled function: called where that begins or ends.

A message in a function that is called from compiled code ends the graph at the call, and the function is compiled in
pieces of its own. The call moves as a whole.

Before:

    def report(name, x):
        logger.info("%s: %s", name, tuple(x.shape))

    @torch.compile
    def gram(x):
        y = x @ x.T
        report("gram", y)
        return y / 2

After:

    def report(name, x):
        logger.info("%s: %s", name, tuple(x.shape))

    @torch.compile
    def gram(x):
        y = x @ x.T
        result = y / 2
        report("gram", y)
        return result

A function only reports when each of its statements is a message or prepares one in a name of its own. It moves as
log messages do (logging-in-region), together with the messages behind it.

Where the call cannot move, a function of the same file that computes what it says is put under
`@torch.compiler.disable(reason="only reports")`, which is recursive: what it calls runs in Python, too. One break
stays, at the call; what it saves is compiling the function in pieces. Without anything
to compute it saves nothing, and is not made.

With `--messages boundary`, messages that stand beside each other in compiled code are put into such a function, above
the def or class that holds them. A record then names that function, which is assumed to matter to nobody.

Stays away when the function reads an attribute or global name that is set between the two places, and for every
reason of logging-in-region. An existing `torch.compiler.disable` stays, and none is
added where a caller compiles with fullgraph=True.

Source: torch.compile troubleshooting (GB0059, GB0291).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._reports import REPORT_RULE, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *REPORT_RULE,
    "a call of a function that only reports, between tensor operations",
    __doc__,
    partial(findings_of, rule=REPORT_RULE),
)
