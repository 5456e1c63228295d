"""What came of the items of a test, read from the report that `pytest_report` wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TORCH_LOG = re.compile(r"^(\[rank\d+\]:)?[VIWEC]\d{4} [\d:.]+ \d+ \S*torch/.*\n?", re.MULTILINE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


@dataclass
class Item:
    """What came of one test item. outcome: "passed", "failed", "error", "skipped", "xfailed", "xpassed" or "ended".

    raised, text: of the first exception. said: by "stdout", "stderr", "log" and "warnings".
    """

    outcome: str = "ended"
    raised: str = ""
    text: str = ""
    said: dict[str, str] = field(default_factory=dict)


def report_lines(report: Path) -> list[dict[str, Any]]:
    """All whole lines; a process that was killed may have left half of one."""
    lines = []
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    for line in text.splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return lines


def items_of(lines: Sequence[Mapping[str, Any]], copies: Mapping[str, str]) -> dict[str, Item]:
    """The items by their ids, in the order in which they ran. copies: originals by the paths of their copies."""
    items: dict[str, Item] = {}
    for line in lines:
        if line["kind"] not in ("start", "phase", "warning"):
            continue
        item = items.setdefault(line["test"], Item())
        if line["kind"] == "warning":
            item.said["warnings"] = item.said.get("warnings", "") + in_every_run(line["text"], copies) + "\n"
        elif line["kind"] == "phase":
            _add_phase(item, line, copies)
    return items


def _add_phase(item: Item, line: Mapping[str, Any], copies: Mapping[str, str]) -> None:
    if line["raised"] and not item.raised:
        item.raised, item.text = line["raised"], in_every_run(line["text"], copies)
    item.said.update({stream: in_every_run(text, copies) for stream, text in line["printed"].items()})
    outcome = line["outcome"]
    if line["expected_to_fail"]:
        outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
    if line["when"] == "call":
        item.outcome = outcome
    elif outcome == "failed":
        item.outcome = "error"
    elif line["when"] == "setup" and outcome != "passed":
        item.outcome = outcome


def in_every_run(text: str, copies: Mapping[str, str]) -> str:
    """A text as it reads in every run: paths of originals, no addresses, nothing of what torch says of compiling."""
    for copy, original in copies.items():
        text = text.replace(copy, original)
    return _ADDRESS.sub("0x...", _TORCH_LOG.sub("", text))
