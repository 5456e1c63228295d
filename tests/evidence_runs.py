"""Programs run once under every kind of observation, for the tests that read what came of it."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gbfix.evidence.launch import observed_environment
from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import journal_notes, read_evidence
from gbfix.evidence.torch_logs import read_torch_logs
from gbfix.evidence.torch_trace import read_torch_trace

TESTS = Path(__file__).parent
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@dataclass(frozen=True)
class Run:
    """What a program of this folder left: its journals, its TORCH_TRACE folder, and its log with other lines in it."""

    program: Path
    journals: Path
    trace: Path
    log: Path

    def evidence(self) -> Evidence:
        return read_evidence(journal_notes(self.journals), root=TESTS)

    def evidence_of_trace(self) -> Evidence:
        return read_evidence(read_torch_trace(self.trace), root=TESTS, mode="torch_trace")

    def evidence_of_log(self) -> Evidence:
        return read_evidence(read_torch_logs(self.log), root=TESTS, mode="torch_logs")

    def marked(self, mark: str) -> dict[int, str]:
        """By line of the program, what its comments say after a mark."""
        lines = self.program.read_text(encoding="utf-8").splitlines()
        found = ((number, re.search(rf"# {mark} (.*)$", line)) for number, line in enumerate(lines, 1))
        return {number: match[1] for number, match in found if match}


@functools.cache
def run(name: str) -> Run:
    """Run a program of this folder in a process of its own, once for all tests of this process."""
    folder = tempfile.TemporaryDirectory(prefix="gbfix-tests-")
    _FOLDERS.append(folder)
    base = Path(folder.name)
    found = Run(TESTS / name, base / "journals", base / "trace", base / "log.txt")
    found.journals.mkdir()
    environment = observed_environment(os.environ, journals=found.journals, values=False)
    environment.update(TORCH_TRACE=str(found.trace), TORCH_LOGS="graph_breaks,recompiles", PYTHONDONTWRITEBYTECODE="1")
    with found.log.open("w", encoding="utf-8") as log:
        subprocess.run([sys.executable, str(found.program)], env=environment, stdout=log, stderr=log, check=True)
    return found
