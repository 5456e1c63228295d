"""`nonzero`, `unique`, `repeat_interleave` and others: a size that depends on values, explained, never rewritten.

The result has as many elements as the values of a tensor say. Dynamo ends the graph there (GB0036), since later
operations need to know sizes. No other operation gives the same result in one size.

Before and after:

    index = torch.nonzero(mask)

What PyTorch offers depends on the operation, and the finding says it: `repeat_interleave(output_size=)`,
`torch.nonzero_static(size=)`, `one_hot(num_classes=)`, `torch.where` with three arguments, a mask and padding, or
the setting `torch._dynamo.config.capture_dynamic_output_shape_ops`. Each asks for something that only the author
knows, so none is applied: a wrong `output_size` is not checked, the setting holds for the whole process.

Where only a sum, a number or a change of the selected elements is wanted, see GBF501, GBF502 and GBF503.

Source: torch.compile troubleshooting (GB0036, GB0246), torch.nonzero_static, torch.repeat_interleave.
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._masked import OPEN, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *OPEN, "a size that depends on the values of a tensor", __doc__, partial(findings_of, rule=OPEN), rewrites=False
)
