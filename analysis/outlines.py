"""The outlines of the files of a project, made when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbfix.analysis.outline import Outline
from gbfix.analysis.spotted import Spotted

if TYPE_CHECKING:
    from gbfix.analysis.project import Project


class Outlines:
    """Makes each outline once."""

    def __init__(self, project: Project, spotted: Spotted, room: int | None) -> None:
        """`room`: how many characters of source may be parsed for the outlines and all else, None for any number."""
        self._project = project
        self._spotted = spotted
        self._room = room
        self._parsed_before = project.files.parsed_characters
        self._outlines: dict[str, Outline] = {}

    def __getitem__(self, path: str) -> Outline:
        """The outline of a file. Raises KeyError for an unknown path."""
        if path not in self._outlines:
            outline = self._outlines[path] = Outline(self._project.names_of(path))
            self._spotted.attributes |= outline.attribute_names
            self._spotted.properties |= outline.properties
        return self._outlines[path]

    @property
    def has_room(self) -> bool:
        """False when as much was parsed as may be."""
        parsed = self._project.files.parsed_characters - self._parsed_before
        return self._room is None or parsed < self._room

    def start_counting(self) -> None:
        """Leave out of the count what was parsed so far."""
        self._parsed_before = self._project.files.parsed_characters

    def made(self) -> dict[str, Outline]:
        """Those that were made so far, by path."""
        return dict(self._outlines)
