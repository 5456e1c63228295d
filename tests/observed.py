"""Running a program under observation and reading the notes of its processes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gbfix.evidence.journal import read_journal
from gbfix.evidence.launch import observed_environment


@dataclass(frozen=True)
class Observed:
    """A finished program. journals: by process, that of the program itself first."""

    status: int
    stdout: str
    stderr: str
    journals: tuple[tuple[dict[str, Any], ...], ...]

    def notes(self, kind: str, **fields: object) -> list[dict[str, Any]]:
        """The program's own notes of a kind with these fields, in order."""
        return [
            note
            for note in self.journals[0]
            if note["kind"] == kind and all(note.get(name) == value for name, value in fields.items())
        ]


def observe(script: Path, folder: Path, *, values: bool = False) -> Observed:
    """Run a Python script as `gbfix trace` does; `folder` takes the journals."""
    folder.mkdir()
    environment = observed_environment(os.environ, journals=folder, values=values)
    program = subprocess.Popen(
        [sys.executable, str(script)], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    stdout, stderr = program.communicate()
    files = sorted(folder.iterdir(), key=lambda file: file.stem != str(program.pid))
    return Observed(program.returncode, stdout, stderr, tuple(tuple(read_journal(file)) for file in files))
