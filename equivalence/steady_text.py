"""Texts without what no two runs have in common: addresses, moments, places in the source."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_FRAMES = re.compile(r"(Traceback \(most recent call last\):\n)(?:[ \t].*\n)+")
_LINE = re.compile(r"(\.py[\"']?(?:, line |:))\d+")
_MOMENT = re.compile(r"\b(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?\b")
_PROGRESS = re.compile(r"\[\d+:\d\d(:\d\d)?<[^\]\n]*\]")


def without_addresses(text: str) -> str:
    """The text with memory addresses (0x7f...) made the same in every process."""
    return _ADDRESS.sub("0x...", text)


def steady(text: str) -> str:
    """The text without what a rewrite may change or no two runs have in common.

    That is addresses, the frames of a traceback with their source, line numbers after the name of a Python file,
    moments (12:34:56.789, with or without a date), and the times of a progress bar.
    """
    text = _PROGRESS.sub("[...]", _FRAMES.sub(r"\1", text))
    return without_addresses(_MOMENT.sub("[time]", _LINE.sub(r"\1...", text)))
