from __future__ import annotations

import functools
import logging

import pytest

from gbfix.equivalence.messages import recorded

LOGGER = logging.getLogger("said_once")


def test_what_a_logger_says_once_in_a_process_is_said_in_each_recorded_call(monkeypatch: pytest.MonkeyPatch) -> None:
    once = functools.lru_cache(None)(lambda logger, text: logger.warning(text))
    monkeypatch.setattr(logging.Logger, "warning_once", once, raising=False)
    for _ in range(2):
        with recorded() as recorder:
            LOGGER.warning_once("deprecated")  # type: ignore[attr-defined]
            LOGGER.warning_once("deprecated")  # type: ignore[attr-defined]
        (event,) = recorder.events()
        assert "deprecated" in event.text
