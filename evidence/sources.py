"""Which files are observed, and the candidates in them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gbfix.evidence.candidates import Candidate, add_candidate, candidate_lines
from gbfix.evidence.stack import FOUNDATIONS, Origin, origin

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Sources:
    """The candidates of code objects; none for those of PyTorch, the standard library and generated code."""

    def __init__(self, folder: str) -> None:
        """`folder`: the working directory, which relative names of files start from, and the project's root."""
        self._folder = folder
        self._files: dict[str, Mapping[int, Candidate]] = {}

    def lines(self, file: str) -> Mapping[int, Candidate]:
        """The candidates of a file by line."""
        if file not in self._files:
            self._files[file] = candidate_lines(self._path(file)) if self.is_observed(file) else {}
        return self._files[file]

    def is_observed(self, file: str) -> bool:
        """Whether a file is of a kind that is observed at all."""
        return self._origin(file) not in FOUNDATIONS and os.path.dirname(self._path(file)) != OWN_FOLDER

    def is_project(self, file: str) -> bool:
        """Whether a file lies in the project."""
        return self._origin(file) is Origin.PROJECT

    def _path(self, file: str) -> str:
        return file if file.startswith("<") else os.path.join(self._folder, file)

    def _origin(self, file: str) -> Origin:
        return origin(self._path(file), self._folder)

    def add(self, file: str, line: int) -> Candidate | None:
        """Make the statement at a line of an observed file a candidate."""
        return add_candidate(self._path(file), line) if self.is_observed(file) else None
