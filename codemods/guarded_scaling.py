"""A branch on a tensor that only scales tensors in place: scale each time, by one where it was not taken.

Clipping by a norm asks for its value, so Dynamo ends the graph at the `if` (GB0170, "Data-dependent branching"), and a
side that writes cannot become a torch.where of results. A floating-point number times one is the same number, also
NaN, infinity or -0.0, so that the question can be asked of the factor.

Before:

    if norm > limit:
        for p in parameters:
            p.grad.mul_(limit / norm)

After:

    condition = norm > limit
    for p in parameters:
        p.grad.mul_(torch.where(condition, limit / norm, 1))

Takes `mul_`, `div_`, `*=`, `/=` and `torch._foreach_mul_` of tensors, of gradients and of the elements of a list, under
tests such as `if p.grad is not None`, and a factor that gets a name first.

Stays away when a side does anything else, when the factor is a Python number (of which the dtype would matter), when
what is scaled is not floating, and when the names that the side sets are read later.

What it relies on and cannot always prove: that what is scaled are tensors of real numbers and are there, that nobody
takes gradients through what is scaled, and what every torch.where relies on (see tensor-value-branch).

Source: torch.nn.utils.clip_grad_norm_, which scales by a clamped factor since PyTorch 1.9; torch.compile
troubleshooting (GB0170).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._branches import SCALING, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*SCALING, "an `if` on a tensor that only scales in place", __doc__, partial(findings_of, rule=SCALING))
