"""How the code that decides about a site says no."""

from __future__ import annotations

from gbfix.engine.model import Discharge, Obligation


class RefusedError(Exception):
    """The site is not rewritten: the obligation that failed, and what the user could do instead."""

    def __init__(self, claim: str, reason: str, line: int, advice: str) -> None:
        super().__init__(reason)
        self.obligation = Obligation(claim, Discharge.VIOLATED, reason, line)
        self.advice = advice
