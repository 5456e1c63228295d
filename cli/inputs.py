"""The source texts that a command works on: files, folders, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gbfix.cli.names import STDIN
from gbfix.engine.config import Settings
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import Discovered, SourceText, discover, read_source
from gbfix.engine.model import ConfigurationError, SourceError


@dataclass(frozen=True)
class Inputs:
    """What could be read, in order, and one line for each thing that could not."""

    sources: tuple[SourceText, ...]
    problems: tuple[str, ...]

    @property
    def from_stdin(self) -> bool:
        """True when the program comes in on standard input."""
        return any(source.path == STDIN for source in self.sources)


def read_inputs(paths: Sequence[str] | None, settings: Settings) -> Inputs:
    """Read everything that the arguments of a command name.

    Raises ConfigurationError when "-" stands beside other paths, or for a bad exclude pattern.
    """
    if paths and "-" in paths:
        if len(paths) > 1:
            raise ConfigurationError('"-" (standard input) cannot be combined with other paths')
        return _read_all([STDIN], [])
    found = find_files(paths, settings)
    return _read_all(found.files, [str(problem) for problem in found.problems])


def find_files(paths: Sequence[str] | None, settings: Settings) -> Discovered:
    """The files that the arguments of a command name. Raises ConfigurationError for a bad exclude pattern."""
    base = settings.path.parent if settings.path else None
    return discover([Path(path) for path in paths or ["."]], settings.exclude, base=base)


def _read_all(paths: Sequence[Path], problems: list[str]) -> Inputs:
    sources: list[SourceText] = []
    for path in paths:
        try:
            sources.append(_read_stdin() if path == STDIN else read_source(path))
        except SourceError as error:
            problems.append(str(error))
    return Inputs(tuple(sources), tuple(problems))


def _read_stdin() -> SourceText:
    """Standard input goes the way of every file, so that encodings and line ends are treated alike."""
    from tempfile import TemporaryDirectory  # slow to load, and needed only here

    with TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_bytes(sys.stdin.buffer.read())
        try:
            return replace(read_source(path), path=STDIN)
        except SourceError as error:
            raise SourceError(str(error).replace(str(path), str(STDIN))) from error
