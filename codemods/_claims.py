"""What rules of several families rely on."""

from __future__ import annotations

INTEGERS = "integer arithmetic stays within 64 bits"
