"""A number read out of a tensor and used in tensor arithmetic: keep it a tensor.

`t.item()`, `float(t)`, `int(t)` and `t.tolist()[k]` make Python wait for the value, so Dynamo ends the graph there
(GB0124, GB0109). Where the number only goes back into tensor arithmetic, a tensor without dimensions does the same
and the graph goes on.

Before:

    largest = x.max().item()
    y = x - largest * 0.5

After:

    largest = x.max().detach().double()
    y = x - (largest * 0.5).to(x.dtype)

Python numbers carry no gradient, hence `detach()`; Python computes in double precision, hence `double()` (integers
stay integers, of 64 bits, as long as nothing makes them floating); and a number never changes the dtype of a
floating tensor, hence the cast where that tensor may have no dimension. What may be written later is copied. The
number is followed through names, `+`, `-`, `*`, `/` and `abs` to comparisons, operations and in-place operations
with tensors.

Truth values (`bool(t)`, `not t`, `t and u`, `c in t`, `all(...)` over a tensor), `round(t)`, tensors as bounds of
slices, and numbers out of numpy arrays are reported with what to write in their place. As the condition of a branch,
`all(v > 0 for v in t)` and `any(t)` become `(t > 0).all()` and `t.any()` where a run showed that t has one dimension.

Stays away, with the reason, when anything needs a Python number: a result, an attribute, a container, `range`, a
slice, a size, `round`, `min`, `max`, powers and remainders; when a number is divided by the tensor it meets; when the
tensor is half precision on an accelerator or without dimensions, bool or complex; and when the name has other values,
too. Numbers that are tested, printed or raised belong to the rules for branches, messages and guards. Functions that
are compiled with fullgraph=True capture numbers by themselves.

What it relies on and cannot always prove, and then says: that the tensor has one element, the dtype and device of
the tensors that it is used with, that Python would not have divided by zero, and that integers are not huge. An
accelerator divides by a number in another way than by a tensor, so divisions are safe on the CPU only.

`torch._dynamo.config.capture_scalar_outputs = True` captures such numbers without an edit. gbfix never sets it: it
holds for the whole process, for a tensor that is passed in every new value compiles again, and a branch on a
computed number breaks all the same.

Source: torch.compile troubleshooting (GB0124), torch.result_type.
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._scalar_sites import ARITHMETIC, findings_of
from gbfix.engine.model import Rule

RULE = Rule(
    *ARITHMETIC,
    "a number read out of a tensor and used in tensor arithmetic",
    __doc__,
    partial(findings_of, rule=ARITHMETIC),
)
