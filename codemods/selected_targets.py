"""`ctc_loss(scores, labels[mask], ...)`: targets one after the other, of which a mask says how many there are.

The number of selected elements depends on values, and the graph ends there (GB0036). The loss takes targets in rows as
well, and reads of each row as many as its length says.

Before:

    mask = labels >= 0
    lengths = mask.sum(-1)
    targets = labels.masked_select(mask)
    return F.ctc_loss(scores, targets, input_lengths, lengths)

After:

    mask = labels >= 0
    lengths = mask.sum(-1)
    targets = labels.gather(-1, (~mask).byte().argsort(dim=-1, stable=True))
    return F.ctc_loss(scores, targets, input_lengths, lengths)

The stable sort moves the selected elements of each row to its front, in their order; what comes after them is never
read. Loss and gradients are the same bits, whatever the mask selects. The loss itself is not traced either (PyTorch
2.13): one break stays at its call, where there were two.

Stays away where nothing shows that the lengths are the number of selected elements of each row, that the mask has the
shape of the labels, or when the targets are used in another way as well. That the labels have two dimensions is assumed
where neither the source nor a run shows it. So is that the bits are the same where the scores may be on an accelerator:
there cuDNN takes targets one after the other only, and what it computes instead is not compared.

Source: torch.nn.CTCLoss, torch.compile troubleshooting (GB0036).
"""

from __future__ import annotations

from functools import partial

from gbfix.codemods._masked import TARGETS, findings_of
from gbfix.engine.model import Rule

RULE = Rule(*TARGETS, "selected elements as the targets of a loss", __doc__, partial(findings_of, rule=TARGETS))
