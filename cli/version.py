"""The version of gbfix that runs."""

from __future__ import annotations


def version_line() -> str:
    """The name and the version of the installed distribution, as `gbfix --version` shows them."""
    # Only this needs it, and it takes a while to load.
    from importlib.metadata import version

    return f"gbfix {version('gbfix')}"
