"""One file with its fixes made, and what is left to find in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gbfix.cli.names import display_name
from gbfix.cli.outcome import Accept, Entry, FileOutcome
from gbfix.cli.positions import moved
from gbfix.engine.diff import unified_diff
from gbfix.engine.edit import EditError, apply_one
from gbfix.engine.files import SourceText, encode_source
from gbfix.engine.model import Finding, Result
from gbfix.engine.passes import fix_text, refused

Find = Callable[[str], Sequence[Finding]]


def edited(source: SourceText, find: Find, *, unsafe: bool, accept: Accept) -> FileOutcome:
    """Make the fixes that `find` proposes, pass by pass, and that `accept` lets through.

    Raises GbfixError when the rules undo each other, and SourceError when the result does not fit the file's encoding.
    """
    name = display_name(source.path)
    offered: list[tuple[Finding, Entry]] = []

    def offer(finding: Finding, text: str) -> bool:
        entry = _entry(name, finding, text)
        if not entry.diff:
            return True  # the engine meets the same EditError, and makes it a refusal
        shown = replace(entry, finding=moved(finding, text, source.text))
        offered.append((finding, shown))
        return accept(name, shown)

    result = fix_text(source.text, find, unsafe=unsafe, accept=offer)
    encode_source(source, result.after)
    applied = [entry for finding, entry in offered if any(finding is made for made in result.applied)]
    remaining = [_entry(name, finding, result.after) for finding in _left(result, find)]
    return FileOutcome(source, result.after, tuple(applied), tuple(remaining))


def _left(result: Result, find: Find) -> Sequence[Finding]:
    """What a second run would find. A fix may uncover another finding, or settle one that had been refused."""
    return fix_text(result.after, find, accept=_nothing).findings if result.changed else result.findings


def _nothing(_finding: Finding, _text: str) -> bool:
    return False


def _entry(name: str, finding: Finding, text: str) -> Entry:
    """The finding with its diff; a refusal when its edit cannot be made."""
    if finding.fix is None:
        return Entry(finding)
    try:
        return Entry(finding, unified_diff(name, text, apply_one(text, finding.fix)))
    except EditError as error:
        return Entry(refused(finding, error))
