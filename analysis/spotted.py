"""What the bare text of files tells, before any of them is parsed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gbfix.analysis.files import Files
from gbfix.analysis.outline import COMPILING
from gbfix.analysis.source import children

_DEFINED = re.compile(r"(?:def|class) (\w+)")
_STORED = re.compile(r"\.(\w+) ?(?:: [^=\n]+)?=(?!=)")
_IN_CLASS = re.compile(r"\n[ \t]+(\w+)(?:: [^=\n]+)? = ")
_NAMED_IN_TEXT = re.compile(r"(?:setattr|add_module|register_module)\([^,\n]*,?\s*[\"'](\w+)")
_PROPERTY = re.compile(r"property[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]+(?:async )?def (\w+)")
_WORD = re.compile(r"(?<!\w)(?:compile|optimize|optimize_assert)(?!\w)")
_OF_PATTERNS = re.compile(r"\b(?:re|regex)\s*\.\s*$")
_STAR = re.compile(r"from\s+torch\s+import\s*\*")


class Spotted:
    """Names that occur in the texts of a project."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.attributes: set[str] = set()
        """Names of attributes that can give a callable; most attributes, those of tensors, cannot."""
        self.properties: set[str] = set()
        self._order = sorted(files)
        for path in self._order:
            self._look(files.text(path))

    def compiling(self) -> Iterator[str]:
        """The paths of the files that mention compiling."""
        known = self._files.compiling
        for path in self._order:
            if path in known if known is not None else may_compile(self._files.text(path)):
                yield path

    def naming(self, word: str) -> list[str]:
        """The paths of the files with a word that stands for more than a definition: those in memory first."""
        return self._with(word, re.compile(rf"(?<!\w)(?<!def ){re.escape(word)}(?!\w)"))

    def reading(self, attribute: str) -> list[str]:
        """The paths of the files that read an attribute of something else than `self`: those in memory first."""
        name = re.escape(attribute)
        return self._with(attribute, re.compile(rf"(?<=\.)(?<!self\.){name}(?!\w)|(?<=[\"']){name}[\"']"))

    def storing(self, attribute: str) -> list[str]:
        """The paths of the files that may store an attribute in something else than `self`."""
        name = f".{attribute}"
        return self._with(name, re.compile(rf"(?<!self){re.escape(name)} ?(?:: [^=\n]+)?=(?!=)"))

    def _with(self, word: str, pattern: re.Pattern[str]) -> list[str]:
        """The paths of the files with a pattern that begins with a word, those in memory first."""
        files = self._files
        found = [path for path in self._order if files.holds(path, word) and _occurs(files.text(path), word, pattern)]
        return sorted(found, key=lambda path: (not self._files.is_kept(path), path))

    def _look(self, text: str) -> None:
        self.attributes.update(_DEFINED.findall(text), _STORED.findall(text), _IN_CLASS.findall(text))
        if "setattr" in text or "add_module" in text or "register_module" in text:
            self.attributes.update(_NAMED_IN_TEXT.findall(text))
        if "property" in text:
            self.properties.update(_PROPERTY.findall(text))


def _occurs(text: str, word: str, pattern: re.Pattern[str]) -> bool:
    """True for a text with the pattern; looking for the word alone is much faster."""
    return any(pattern.match(text, start) for start in _starts(text, word))


def may_compile(text: str) -> bool:
    """True for a text with code that mentions compiling, of whatever kind; what only speaks of it is left out.

    Raises SyntaxError for some texts that are no Python.
    """
    if "torch" in text and _STAR.search(text):
        return True
    if "compile" not in text and "optimize" not in text:
        return False
    starts = [start for word in ("compile", "optimize") for start in _starts(text, word) if _WORD.match(text, start)]
    return any(_is_code(text, start) for start in starts) and _mentions(ast.parse(text))


def _starts(text: str, word: str) -> Iterator[int]:
    start = text.find(word)
    while start >= 0:
        yield start
        start = text.find(word, start + 1)


def _is_code(text: str, place: int) -> bool:
    start = text.rfind("\n", 0, place) + 1
    before = text[start:place]
    return not before.lstrip().startswith("#") and not before.endswith("`") and not _OF_PATTERNS.search(before)


def _mentions(tree: ast.Module) -> bool:
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.Name(id=name) | ast.Constant(value=str() as name) | ast.alias(name=name) if name in COMPILING:
                return True
            case ast.Attribute(attr=name, value=value) if name in COMPILING:
                if not (isinstance(value, ast.Name) and value.id in ("re", "regex")):
                    return True
        pending += node.names if isinstance(node, ast.ImportFrom) else children(node)
    return False
