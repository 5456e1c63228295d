"""Which rules run: by code, by prefix of a code, by name, or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gbfix.engine.model import ConfigurationError, Rule

ALL = "ALL"
"""The selector that means every rule."""

_NO_MATCH = -1
_PREFIX_START = "GBF"


def select(rules: Iterable[Rule], chosen: Sequence[str], ignored: Sequence[str]) -> tuple[Rule, ...]:
    """The rules that are chosen and not ignored, in order of their codes; nothing chosen means all.

    When a rule is both, the more specific selector wins (a longer prefix over a shorter one, a full code or a name
    over any prefix), and of equally specific ones the ignoring. Raises ConfigurationError for a selector that
    fits no rule.
    """
    known = sorted(rules, key=lambda rule: rule.code)
    for selector in (*chosen, *ignored):
        _check(selector, known)
    return tuple(
        rule
        for rule in known
        if _best_match(chosen or (ALL,), rule.code, rule.name) > _best_match(ignored, rule.code, rule.name)
    )


def matches(selector: str, code: str, name: str) -> bool:
    """True when `selector` is the code, a prefix of it from "GBF" on, the name, or ALL."""
    return _specificity(selector, code, name) > _NO_MATCH


def _best_match(selectors: Sequence[str], code: str, name: str) -> int:
    return max((_specificity(selector, code, name) for selector in selectors), default=_NO_MATCH)


def _specificity(selector: str, code: str, name: str) -> int:
    if selector == ALL:
        return 0
    if selector == name:
        return len(code)
    if selector.startswith(_PREFIX_START) and code.startswith(selector):
        return len(selector)
    return _NO_MATCH


def _check(selector: str, rules: Sequence[Rule]) -> None:
    if selector == ALL or any(matches(selector, rule.code, rule.name) for rule in rules):
        return
    from difflib import get_close_matches  # slow to load, and needed only for a mistake

    # Codes are upper case and names lower case, so that each spelling is compared with its own kind.
    known = {spelling.casefold(): spelling for rule in rules for spelling in (rule.code, rule.name)}
    close = get_close_matches(selector.casefold(), known, n=1)
    hint = f"did you mean {known[close[0]]}?" if close else "`gbfix rules` lists those that exist"
    raise ConfigurationError(f"no rule fits {selector!r}; {hint}")
