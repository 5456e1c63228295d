"""The targets of a loss that a mask selects, and the setting of cuDNN around it: which become what, and which stay."""

from __future__ import annotations

import pytest
import torch

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

RULES = [rule for rule in all_rules() if rule.code in ("GBF325", "GBF505", "GBF507")]
LOSS = """
import torch
import torch.nn.functional as F


def loss(scores: torch.Tensor, labels: torch.Tensor, lengths, blank: int = 0):
    mask = labels > blank
    counts = mask.sum(-1)
    chosen = labels.masked_select(mask)
    # not in half precision
    with torch.backends.cudnn.flags(enabled=False):
        return F.ctc_loss(scores, chosen, lengths, counts, blank=blank)


f = torch.compile(loss)
""".lstrip()


def found(text: str) -> list[Finding]:
    view = load([parse("program.py", text)]).view("program.py")
    return [finding for rule in RULES for finding in rule.find(view)]


def results(text: str) -> list[torch.Tensor]:
    scope: dict[str, object] = {}
    exec(text, scope)
    drawn = torch.Generator().manual_seed(1)
    scores = torch.randn(9, 3, 4, generator=drawn).log_softmax(-1).requires_grad_()
    labels = torch.randint(-1, 4, (3, 5), generator=drawn)
    value = scope["loss"](scores, labels, torch.full((3,), 9))  # type: ignore[operator]
    value.backward()
    assert scores.grad is not None
    return [value.detach(), scores.grad]


def test_targets_are_padded_and_the_setting_gets_a_function_of_its_own() -> None:
    after = fix_text(LOSS, found, unsafe=True).after
    assert "    chosen = labels.gather(-1, (~mask).byte().argsort(dim=-1, stable=True))\n" in after
    assert "    # not in half precision\n    return _loss_uncompiled(scores, chosen, lengths, counts, blank)\n" in after
    helper = after.partition("def _loss_uncompiled(scores, chosen, lengths, counts, blank):\n")[2]
    assert helper.startswith(
        "    with torch.backends.cudnn.flags(enabled=False):\n"
        "        return F.ctc_loss(scores, chosen, lengths, counts, blank=blank)\n"
    )
    assert [one.safety for one in found(after)] == []
    assert all(torch.equal(one, other) for one, other in zip(results(LOSS), results(after), strict=True))


def test_the_size_of_the_labels_and_the_device_are_assumed() -> None:
    (finding,) = (one for one in found(LOSS) if one.code == "GBF507")
    assumed = [one.claim for one in finding.obligations if one.discharge is Discharge.ASSUMED]
    assert assumed == ["the targets have two dimensions", "the loss has the same bits for padded targets"]
    (with_setting,) = (one for one in found(LOSS) if one.code == "GBF325")
    assert with_setting.safety is Safety.SAFE


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("counts = mask.sum(-1)", "counts = mask.sum()", "nothing shows that they are mask.sum(-1)"),
        ("counts = mask.sum(-1)", "counts = mask.sum(-1, keepdim=True)", "nothing shows that they are mask.sum(-1)"),
        ("counts = mask.sum(-1)", "counts = lengths", "nothing shows that they are mask.sum(-1)"),
        ("mask = labels > blank", "mask = scores > blank", "nothing shows that mask has the shape of labels"),
    ],
)
def test_targets_of_another_kind_stay(old: str, new: str, reason: str) -> None:
    (finding,) = (one for one in found(LOSS.replace(old, new)) if one.code == "GBF507")
    assert finding.obligations[0].reason == reason
    assert finding.advice


def test_targets_that_are_also_used_otherwise_are_explained_as_before() -> None:
    text = LOSS.replace("    # not in", "    print(chosen)\n    # not in")
    assert {one.code for one in found(text) if one.safety is Safety.REFUSED} == {"GBF505"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "return F.ctc_loss(",
            "return blank and helper(",
            "helper(scores, chosen, lengths, counts, blank",
        ),
        ("return F.ctc_loss(", "chosen = chosen + 1\n        return F.ctc_loss(", "it is more than one value"),
        ("(enabled=False):", "(enabled=False) as was:", "the block uses what it enters"),
        ("(enabled=False):", "(enabled=lengths.__on):", "__on has another meaning outside its class"),
    ],
)
def test_a_block_that_does_more_stays(old: str, new: str, reason: str) -> None:
    (finding,) = (one for one in found(LOSS.replace(old, new)) if one.code == "GBF325")
    assert finding.safety is Safety.REFUSED
    assert finding.obligations[0].reason.startswith(reason)


def test_a_name_that_is_set_gets_the_value() -> None:
    text = LOSS.replace("return F.ctc_loss(", "value = F.ctc_loss(").replace(
        "counts, blank=blank)\n", "counts, blank=blank)\n    return value * 2\n"
    )
    after = fix_text(text, lambda source: [one for one in found(source) if one.code == "GBF325"]).after
    assert "    value = _loss_uncompiled(scores, chosen, lengths, counts, blank)\n    return value * 2\n" in after
    assert all(torch.equal(one, other) for one, other in zip(results(text), results(after), strict=True))
