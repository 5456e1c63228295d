"""A function of `math` on a number read out of a tensor: the function of torch on the tensor.

`math.exp(t.item())` and `math.exp(t)` make Python wait for the value (GB0124, GB0033). torch has the same functions;
they give NaN or infinity where those of math raise.

Before:

    scale = math.exp(x.sum().item())
    y = x * scale

After:

    scale = torch.exp(x.sum().detach().double())
    y = x * scale.to(x.dtype)

Handles sqrt, exp, expm1, the logarithms, sin, cos, tan, tanh and atan, in arithmetic as item-in-arithmetic does.

Stays away, with the reason, from the other functions, and wherever item-in-arithmetic does.

Relies on the number being one that math takes without raising, and on both rounding alike, which the last bit of a
double may contradict; so this is never done without --unsafe or a check.

Source: torch.compile troubleshooting (GB0124, GB0033).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._scalar_sites import MATH, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*MATH, "math.f of a number read out of a tensor", __doc__, partial(findings_of, rule=MATH))
