"""The formats of the report of `gbfix trace`."""

from __future__ import annotations

from enum import Enum


class ReportFormat(str, Enum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
