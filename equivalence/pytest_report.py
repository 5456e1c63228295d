"""A pytest plugin that writes down what came of each test: one JSON object per line, into the file that REPORT names.

Loaded with `-p` into the process in which `pytest_process` runs a test. Imports only the standard library and pytest,
but where the outcomes of conditions are noted, too.
"""

from __future__ import annotations

import ast
import json
import logging
import os
from collections.abc import Generator
from typing import Any

import pytest

REPORT = "GBFIX_TEST_REPORT"
"""Names the environment variable with the path of the report."""

REACH = "GBFIX_TEST_REACH"
"""Names the environment variable that is set where the files note the outcomes of conditions (see `reach`)."""

_FOREIGN = ("torch", "filelock")
"""Loggers whose records tell how the program was compiled, which a rewrite is to change."""


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(0)
        self.rows: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] not in _FOREIGN:
            self.rows.append(f"{record.levelname} {record.name}: {record.getMessage()}")


_records = _Records()


def pytest_configure() -> None:
    """Define what the files call to note an outcome, before any of them is loaded."""
    if os.environ.get(REACH):
        from gbfix.equivalence import reach

        reach.instrument(ast.parse(""), "", ())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, None]:
    """Note that a test begins, so that one which ends the process is known; and collect its log records."""
    _write(kind="start", test=item.nodeid)
    _records.rows.clear()
    logging.getLogger().addHandler(_records)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(_records)
        if os.environ.get(REACH):
            _write_outcomes()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Note how a phase of a test ended: its outcome, the exception, and at the end what was printed and logged."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    raised = call.excinfo
    _write(
        kind="phase",
        test=item.nodeid,
        when=report.when,
        outcome=report.outcome,
        expected_to_fail=hasattr(report, "wasxfail"),
        raised=f"{raised.type.__module__}.{raised.type.__qualname__}" if raised else "",
        text=str(raised.value) if raised else str(report.longrepr or ""),
        printed=_printed(report) if report.when == "teardown" else {},
    )


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note what kept tests from being collected."""
    if report.failed:
        _write(kind="collection", test=report.nodeid, text=str(report.longrepr))


def pytest_warning_recorded(warning_message: Any, when: str, nodeid: str) -> None:  # noqa: ANN401
    """Note a warning of the program; those of torch tell how it was compiled."""
    if when == "runtest" and f"{os.sep}torch{os.sep}" not in str(warning_message.filename):
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        _write(kind="warning", test=nodeid, text=text)


def _write_outcomes() -> None:
    from gbfix.equivalence import reach

    outcomes = {(taken.index, taken.outcome) for taken in reach.taken()}
    reach.start()
    _write(kind="outcomes", outcomes=sorted(outcomes))


def _printed(report: pytest.TestReport) -> dict[str, str]:
    """By stream, over all phases of the test."""
    found = {"stdout": "", "stderr": "", "log": "\n".join(_records.rows)}
    for title, text in report.sections:
        for stream in ("stdout", "stderr"):
            if title.startswith(f"Captured {stream}"):
                found[stream] += text
    return found


def _write(**fields: object) -> None:
    """At once, so that a process that is killed leaves what it saw; workers of xdist write into the same file."""
    path = os.environ.get(REPORT)
    if path:
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(fields, default=str) + "\n")
