"""Diffs that `git apply` takes byte for byte."""

from __future__ import annotations

from difflib import unified_diff as unified_diff_lines

_NO_NEWLINE = "\n\\ No newline at end of file\n"
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def unified_diff(path: str, before: str, after: str) -> str:
    """The change of one file as a unified diff with git's header; empty when nothing changed.

    `path` is relative to the repository root, with "/" between its parts. Lines end at line feeds only, so that a
    carriage return and the other line breaks of `str.splitlines` stay part of their line, as they do for git.
    Format: "Generating patch text with -p" in `git help diff`; quoting of paths: `core.quotePath` in `git help config`.
    """
    if before == after:
        return ""
    old, new = f"a/{path}", f"b/{path}"
    # The tab after a path with a space is how git tells the path from a timestamp.
    tab = "\t" if " " in path else ""
    header = f"diff --git {_quoted(old)} {_quoted(new)}\n--- {_quoted(old)}{tab}\n+++ {_quoted(new)}{tab}\n"
    lines = list(unified_diff_lines(_lines(before), _lines(after), n=3))[2:]
    return header + "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _quoted(path: str) -> str:
    """The path as git writes it: C-style in double quotes when a byte of it needs that."""
    quoted = "".join(_quoted_byte(byte) for byte in path.encode("utf-8", "surrogateescape"))
    return path if quoted == path else f'"{quoted}"'


def _quoted_byte(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
