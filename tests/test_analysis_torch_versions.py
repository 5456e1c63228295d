from __future__ import annotations

import pytest

from gbfix.analysis.capabilities import CAPTURED_IN_2_13, PROBES
from gbfix.analysis.torch_versions import SINCE, torch_of
from gbfix.engine.model import ConfigurationError


def test_a_program_is_captured_from_a_version_on() -> None:
    probe = "torch._higher_order_ops.print"
    captured = [torch_of(version).captures(probe) for version in ("2.6", "2.10.1", "2.11", "2.13.0+cpu", "2.14.0")]
    assert captured == [False, False, True, True, True]
    assert not torch_of("2.14").captures("print")


def test_the_measured_version_is_as_measured() -> None:
    assert {probe for probe in PROBES if torch_of("2.13.0").captures(probe)} == CAPTURED_IN_2_13
    assert set(SINCE) <= set(PROBES)


@pytest.mark.parametrize(("version", "said"), [("newest", "'newest' is not a version"), ("2.5", "2.5 is too old")])
def test_other_values_are_one_line_errors(version: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        torch_of(version)
    assert "\n" not in str(raised.value)
