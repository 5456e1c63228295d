"""The text of a shape as the key of a dict.

From the second size on, Dynamo computes with sizes that it leaves open, of which no text can be made: `str(...)` ends
the graph (GB0059). The tuple of the sizes finds the same entries. As keys, sizes are constants of the graph in both
cases, so that each other size compiles again.

Before:

    for layer in layers:
        x = layer(x)
        found[str(tuple(x.shape))] = x
    y = y + found[str(tuple(y.shape))]

After:

    for layer in layers:
        x = layer(x)
        found[tuple(x.shape)] = x
    y = y + found[tuple(y.shape)]

All such keys of a file change together, since one function may store what another one looks up. Stays away, with the
reason, when a function does anything else with the dict than look up, store and return, such as printing its keys, and
when the text is used for anything else than a key. What it relies on and cannot prove: that nothing elsewhere reads
the keys, also as the text of a KeyError.

Source: PyTorch's GB0059.
"""

from __future__ import annotations

from gbfix.codemods._shape_keys import KEYS, key_findings
from gbfix.engine.model import Rule

RULE = Rule(*KEYS, "the text of a shape as the key of a dict", __doc__, key_findings)
