"""How a report is written."""

from __future__ import annotations

from enum import Enum


class OutputFormat(str, Enum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
