from __future__ import annotations

import re

import pytest

from gbfix.evidence.model import Recompile
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS


def test_every_kind_of_the_model_has_an_entry() -> None:
    documentation = Recompile.__doc__ or ""
    kinds = re.findall(r'"(\w+)"', documentation[documentation.index(" kind:") : documentation.index(" values:")])
    assert len(kinds) > 10
    assert set(RECOMPILE_KINDS) == set(kinds)


@pytest.mark.parametrize("kind", RECOMPILE_KINDS)
def test_an_entry_is_made_of_sentences(kind: str) -> None:
    entry = RECOMPILE_KINDS[kind]
    assert entry.ways_out
    assert all(text.endswith(".") for text in (entry.cause, entry.price, *entry.ways_out))
