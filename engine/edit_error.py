"""The error of an edit that cannot be made; apart, because every part of the editor raises it."""

from __future__ import annotations

from gbfix.engine.model import GbfixError


class EditError(GbfixError):
    """An edit that cannot be made; the source stays as it was."""
