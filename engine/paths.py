"""Paths in messages."""

from __future__ import annotations

from pathlib import Path


def printable(path: Path) -> str:
    """The path for a one-line message: as it is, or escaped when it holds newlines or undecodable bytes."""
    text = str(path)
    return text if text.isprintable() else ascii(text)
