"""The files of a project, parsed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from weakref import WeakValueDictionary

from gbfix.analysis.source import SourceFile, parse


class Files:
    """The files by path. One that is asked for by its path is kept; going through all of them keeps none.

    A tree takes some sixty times the memory of its text, so a project of thousands of files is never parsed as a whole.
    """

    def __init__(
        self,
        paths: Iterable[str],
        read: Callable[[str], bytes],
        kept: Mapping[str, SourceFile] | None = None,
        compiling: frozenset[str] | None = None,
    ) -> None:
        """`read` gives the text of a path, which is known to parse, in UTF-8. `kept` are files that are parsed already.

        compiling: the paths of the files that mention compiling, where that is known.
        """
        self._paths = dict.fromkeys(paths)
        self._read = read
        self._kept = dict(kept or {})
        self._passing: WeakValueDictionary[str, SourceFile] = WeakValueDictionary()
        self.compiling = compiling
        self.parsed_characters = 0
        """How much source was parsed to be kept."""
        self.on_parsed: Callable[[], None] = lambda: None
        """Called whenever a file was parsed to be kept."""

    def __getitem__(self, path: str) -> SourceFile:
        """The parsed file. Raises KeyError for an unknown path, SourceError when it changed and parses no more."""
        if path not in self._kept:
            self._kept[path] = self._passed(path)
            self.parsed_characters += len(self._kept[path].text)
            self.on_parsed()
        return self._kept[path]

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def values(self) -> Iterator[SourceFile]:
        """Every file, in order; none is kept for it."""
        return (self._passed(path) for path in self._paths)

    def items(self) -> Iterator[tuple[str, SourceFile]]:
        """The same with their paths."""
        return ((path, self._passed(path)) for path in self._paths)

    def get(self, path: str) -> SourceFile | None:
        """The parsed file, None for an unknown path."""
        return self[path] if path in self._paths else None

    def text(self, path: str) -> str:
        """The text of a file, which is not parsed for it. Raises KeyError for an unknown path."""
        kept = self._kept.get(path)
        if kept is not None:
            return kept.text
        if path not in self._paths:
            raise KeyError(path)
        return self._read(path).decode("utf-8", "surrogatepass")

    def holds(self, path: str, word: str) -> bool:
        """True when the text of a file has a word anywhere. Raises KeyError for an unknown path."""
        kept = self._kept.get(path)
        return word in kept.text if kept is not None else word.encode() in self._read(path)

    def is_kept(self, path: str) -> bool:
        """True for a file whose tree is in memory."""
        return path in self._kept

    def naming(self, *words: str) -> Iterator[tuple[str, SourceFile]]:
        """The files with one of these words anywhere in their text, in the order of the files; all for no word."""
        for path in self._paths:
            if not words or any(self.holds(path, word) for word in words):
                yield path, self._passed(path)

    def with_file(self, source: SourceFile) -> Files:
        """The same files with another one in place of that of its path."""
        return Files([*self._paths], self._read, {**self._kept, source.path: source}, self.compiling)

    def _passed(self, path: str) -> SourceFile:
        found = self._kept.get(path) or self._passing.get(path)
        if found is None:
            found = self._passing[path] = parse(path, self.text(path))
        return found


def files_of(sources: Iterable[SourceFile]) -> Files:
    """Files that are parsed already."""
    kept = {source.path: source for source in sources}
    return Files(kept, lambda path: kept[path].text.encode("utf-8", "surrogatepass"), kept)
