"""A print in compiled code: print from within the graph.

Python's `print` is not part of a graph, so Dynamo ends the graph there (GB0059; inside a loop, a `try` or a
`with` it gives up the whole function), prints, and starts another graph behind it. PyTorch has an operator that
prints when the graph runs: the same text, in the same order, as often as before.

Before:

    y = x * 2
    print("mean", y.mean().item(), f"{y.max().item():.3f}")
    return y + 1

After:

    y = x * 2
    torch._higher_order_ops.print("mean {} {:.3f}", y.mean(), y.max())
    return y + 1

Handles f-strings, `%`, `str.format`, `str()`, `repr()`, `+`, `sep=` and `end=` where they are constants,
`sys.stdout.write` of whole lines, and reads such as `.item()` that are only formatted. Shapes, dtypes, devices and
lists of constants become text when the graph is made, since the graph takes tensors and numbers only; where a
shape that is printed changes from call to call, each compiles again, and the fix is only a suggestion.

The graph does not take `file=`, `flush=`, other ends than a new line, star arguments and objects of unknown kind, and
not in files that use vmap, checkpoint, torch.cond, torch.jit or dispatch modes, which do not know the operator. Such a
print is said where the function begins or ends, as logging-in-region does, with the messages behind it, and so
is one whose text would be assumed in the graph and is certain there. `--messages` chooses one way: in-graph, outside,
boundary, or drop.

Stays away, with the reason, from a print on one side of a branch on a tensor that also computes (the branch breaks the
graph anyway), and from what neither way can take. Silent about a print at an edge next to messages that Python says:
there it costs nothing, and in a graph it would be one of its own.

What it relies on and cannot always prove, and then says: that what is printed is a tensor, a number or text; that
a number comes from one element; that no grad_fn is part of the text, which backends that compile ahead of time do not
have; that no transform runs the function.

The operator is torch._higher_order_ops.print, from PyTorch 2.11. Without torch.compile it prints the same, some 10
to 40 microseconds slower. Its namespace is private: another version of PyTorch may name it otherwise.

Source: torch/_higher_order_ops/print.py, torch.compile troubleshooting (GB0059, GB0156, GB0124).
"""

from __future__ import annotations

from gbfix.codemods._print_sites import CODE, NAME, find
from gbfix.engine.model import Rule

RULE = Rule(CODE, NAME, "a print in compiled code", __doc__, find)
