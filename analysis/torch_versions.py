"""What versions of PyTorch capture that are not installed: for programs that will run with another one."""

from __future__ import annotations

from collections.abc import Mapping

from gbfix.analysis.capabilities import CAPTURED_IN_2_13, Torch
from gbfix.engine.model import ConfigurationError

SINCE: Mapping[str, str] = {
    "torch._higher_order_ops.print": "2.11",
    "random.random": "2.14",
}
"""The first version that captures a probe's program, where another one than 2.13 is known."""

_OLDEST = "2.6"


def torch_of(version: str) -> Torch:
    """PyTorch of a version such as "2.11": what is not known to be captured by it is taken as not captured.

    Raises ConfigurationError for what is no version, or one that gbfix does not support.
    """
    from packaging.version import InvalidVersion, Version  # few runs need it

    try:
        wanted = Version(version)
    except InvalidVersion as error:
        raise ConfigurationError(f"torch: {version!a} is not a version of PyTorch; write for example 2.11") from error
    if wanted < Version(_OLDEST):
        raise ConfigurationError(f"torch: {version} is too old; gbfix knows PyTorch from {_OLDEST} on")

    def captures(probe: str) -> bool:
        since = SINCE.get(probe) or ("2.13" if probe in CAPTURED_IN_2_13 else None)
        return since is not None and wanted >= Version(since)

    return Torch(version, captures)
